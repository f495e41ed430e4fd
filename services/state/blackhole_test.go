package state_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/fathom-research/fathom/platform/bus"
	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// TestNoResearchHangsInABlackhole runs a hundred researches of which one part of the
// world never answers.
func TestNoResearchHangsInABlackhole(t *testing.T) {
	t.Parallel()
	const each, grace = 25, 2 * time.Second
	for name, dark := range map[string]bus.Kind{
		"the model": bus.Queries, "the searcher": bus.Search, "all pages": bus.Scrape, "the analyzer": bus.Analyze, "the reporter": bus.Report,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, map[string]string{"FATHOM_RESEARCH_DEADLINE": "8s", "FATHOM_REPORT_GRACE": grace.String()})
			s.serveAllBut(t, dark)
			ids := s.beginMany(t, each)
			latest := time.Duration(0)
			for _, id := range ids {
				require.Eventually(t, func() bool { return s.get(t, id).GetFinishedAt() != nil }, time.Minute, 20*time.Millisecond)
				record := s.get(t, id)
				latest = max(latest, record.GetFinishedAt().AsTime().Sub(record.GetStartedAt().AsTime()))
				require.Equal(t, "failed", record.GetStatus())
				require.NotEmpty(t, record.GetReason())
				require.Equal(t, dark != bus.Queries && dark != bus.Report, record.GetReport() != nil, "what there is is written down")
				output, err := s.client.GetErrorOutput(t.Context(), &researchv1.GetErrorOutputRequest{ResearchId: id})
				require.NoError(t, err)
				require.Contains(t, output.GetMarkdown(), "deadline")
			}
			t.Logf("%d researches, the last ended %s after its start", each, latest.Round(time.Millisecond))
			require.Less(t, latest, 8*time.Second+grace+time.Minute)
		})
	}
}

// serveAllBut serves all kinds but one, of which nobody takes a task.
func (s *system) serveAllBut(t *testing.T, dark bus.Kind) {
	t.Helper()
	for _, kind := range bus.Kinds {
		if kind == dark {
			continue
		}
		running(t, func(ctx context.Context) error {
			return s.bus.Work(ctx, bus.Worker{Kind: kind, Slots: 8, Grace: 50 * time.Millisecond, Handle: func(_ context.Context, task *workv1.Task) (*workv1.Result, error) {
				return answer(task), nil
			}})
		})
	}
}

// beginMany starts n researches at once.
func (s *system) beginMany(t *testing.T, n int) []string {
	t.Helper()
	ids := make([]string, n)
	var group errgroup.Group
	for i := range ids {
		group.Go(func() error {
			asked, err := s.client.CreateQuestions(t.Context(), &researchv1.CreateQuestionsRequest{InitialPrompt: "Why?", NumQuestions: 1})
			if err != nil {
				return err
			}
			ids[i] = asked.GetResearchId()
			_, err = s.client.StartResearch(t.Context(), &researchv1.StartResearchRequest{
				ResearchId: ids[i], FollowupAnswers: []string{""}, Depth: 1, Breadth: 1,
			})
			return err
		})
	}
	require.NoError(t, group.Wait())
	return ids
}
