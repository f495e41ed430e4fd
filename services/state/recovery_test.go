package state_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/testkit/natstest"
)

func TestCancelStopsRunningWork(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	begun, stopped := make(chan struct{}, 100), make(chan struct{}, 100)
	s.workers(t, func(ctx context.Context, task *workv1.Task) (*workv1.Result, error) {
		if bus.KindOf(task) != bus.Scrape {
			return nil, nil
		}
		begun <- struct{}{}
		<-ctx.Done()
		stopped <- struct{}{}
		return nil, ctx.Err()
	})
	id := s.begin(t, 1, 1)
	<-begun
	answered, err := s.client.CancelResearch(t.Context(), &researchv1.CancelResearchRequest{ResearchId: id})
	require.NoError(t, err)
	require.Equal(t, "cancelled", answered.GetStatus())
	select {
	case <-stopped:
	case <-time.After(5 * time.Second):
		t.Fatal("the work goes on")
	}
	record := s.get(t, id)
	require.Equal(t, "cancelled", record.GetReason())
	require.Equal(t, int32(3), record.GetCounts().GetWebsitesFailed())
	require.Equal(t, "research.cancelled", s.watch(t, id)[len(s.watch(t, id))-1].GetType())
	_, err = s.client.PauseResearch(t.Context(), &researchv1.PauseResearchRequest{ResearchId: id})
	require.Equal(t, codes.FailedPrecondition, status.Code(err))
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	gate, begun := make(chan struct{}), make(chan struct{}, 2)
	s.workers(t, func(ctx context.Context, task *workv1.Task) (*workv1.Result, error) {
		if bus.KindOf(task) == bus.Search {
			begun <- struct{}{}
			select {
			case <-gate:
			case <-ctx.Done():
			}
		}
		return nil, ctx.Err()
	})
	id := s.begin(t, 1, 2)
	// A search that is not published yet when the pause comes would wait for its end.
	for range 2 {
		<-begun
	}
	paused, err := s.client.PauseResearch(t.Context(), &researchv1.PauseResearchRequest{ResearchId: id})
	require.NoError(t, err)
	require.Equal(t, "paused", paused.GetStatus())
	close(gate)
	require.Eventually(t, func() bool { return s.get(t, id).GetCounts().GetWebsitesPending() == 6 }, 20*time.Second, 10*time.Millisecond,
		"results are applied, and nothing new is published")
	resumed, err := s.client.ResumeResearch(t.Context(), &researchv1.ResumeResearchRequest{ResearchId: id})
	require.NoError(t, err)
	require.Equal(t, "running", resumed.GetStatus())
	s.watch(t, id)
	require.Equal(t, "completed", s.get(t, id).GetStatus())
}

func TestDeadTaskIsListedAndReplayed(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	mended := make(chan struct{})
	s.workers(t, func(_ context.Context, task *workv1.Task) (*workv1.Result, error) {
		if bus.KindOf(task) != bus.Report {
			return nil, nil
		}
		select {
		case <-mended:
			return nil, nil
		default:
			return nil, fault.Permanent(fault.Misconfigured, "no such model")
		}
	})
	id := s.begin(t, 1, 1)
	s.watch(t, id)
	require.Equal(t, "failed", s.get(t, id).GetStatus())
	output, err := s.client.GetErrorOutput(t.Context(), &researchv1.GetErrorOutputRequest{ResearchId: id})
	require.NoError(t, err)
	require.Contains(t, output.GetMarkdown(), "no such model")

	var dead []*researchv1.DeadTask
	require.Eventually(t, func() bool {
		listed, err := s.client.ListDeadTasks(t.Context(), &researchv1.ListDeadTasksRequest{ResearchId: id})
		dead = listed.GetDeadTasks()
		return err == nil && len(dead) == 1
	}, 20*time.Second, 20*time.Millisecond)
	require.Equal(t, "misconfigured", dead[0].GetReason())
	whole, err := s.client.GetDeadTask(t.Context(), &researchv1.GetDeadTaskRequest{Sequence: dead[0].GetSequence()})
	require.NoError(t, err)
	require.Contains(t, whole.GetBody(), "Why?")

	close(mended)
	replayed, err := s.client.ReplayDeadTask(t.Context(), &researchv1.ReplayDeadTaskRequest{Sequence: dead[0].GetSequence()})
	require.NoError(t, err)
	require.Equal(t, "reporting", replayed.GetStatus())
	s.watch(t, id)
	require.Equal(t, "completed", s.get(t, id).GetStatus())
	_, err = s.client.GetDeadTask(t.Context(), &researchv1.GetDeadTaskRequest{Sequence: dead[0].GetSequence()})
	require.Equal(t, codes.NotFound, status.Code(err))
}

func TestDeletedResearchIsGone(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.workers(t, nil)
	id := s.begin(t, 1, 1)
	s.watch(t, id)
	_, err := s.client.DeleteResearch(t.Context(), &researchv1.DeleteResearchRequest{ResearchId: id})
	require.NoError(t, err)
	_, err = s.client.GetResearch(t.Context(), &researchv1.GetResearchRequest{ResearchId: id})
	require.Equal(t, codes.NotFound, status.Code(err))
}

func TestDeadlineEndsAResearchThatNobodyServes(t *testing.T) {
	t.Parallel()
	s := start(t, map[string]string{"FATHOM_RESEARCH_DEADLINE": "1500ms", "FATHOM_REPORT_GRACE": "500ms"})
	blackhole := func(ctx context.Context, task *workv1.Task) (*workv1.Result, error) {
		if bus.KindOf(task) == bus.Search || bus.KindOf(task) == bus.Report {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return nil, nil
	}
	s.workers(t, blackhole)
	id := s.begin(t, 2, 2)
	events := s.watch(t, id)
	require.Equal(t, "research.failed", events[len(events)-1].GetType())
	require.Equal(t, "deadline", s.get(t, id).GetReason())
	output, err := s.client.GetErrorOutput(t.Context(), &researchv1.GetErrorOutputRequest{ResearchId: id})
	require.NoError(t, err)
	require.Contains(t, output.GetMarkdown(), "deadline")
}

func TestEverythingFinishesAfterNATSWasLostWhole(t *testing.T) {
	t.Parallel()
	server := natstest.Start(t)
	nc, err := bus.Connect(server.URL(), "test")
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	b, err := bus.Open(nc, bus.Options{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	s := startOn(t, b, nil)
	var analyses atomic.Int32
	reached := make(chan struct{})
	s.workers(t, func(_ context.Context, task *workv1.Task) (*workv1.Result, error) {
		if bus.KindOf(task) == bus.Analyze && analyses.Add(1) == 10 {
			close(reached)
		}
		return nil, nil
	})
	id := s.begin(t, 2, 4)
	<-reached
	server.LoseStore()
	s.watch(t, id)
	record := s.get(t, id)
	require.Equal(t, "completed", record.GetStatus())
	require.Len(t, record.GetSerpQueries(), 12)
	require.Equal(t, int32(36), record.GetCounts().GetWebsitesAnalyzed())
}
