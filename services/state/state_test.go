package state_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/config"
	"github.com/fathom-research/fathom/platform/rpc"
	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/testkit/natstest"
	"github.com/fathom-research/fathom/testkit/pgtest"
)

func TestMain(m *testing.M) {
	code := pgtest.Main(m)
	err := goleak.Find()
	if code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// system is state on a real bus and database, without workers at first.
type system struct {
	client researchv1.ResearchServiceClient
	bus    *bus.Bus
	url    string
}

func start(t *testing.T, environment map[string]string) *system {
	t.Helper()
	b, err := bus.Open(natstest.Connect(t), bus.Options{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return startOn(t, b, environment)
}

// startOn is start on a given bus.
func startOn(t *testing.T, b *bus.Bus, environment map[string]string) *system {
	t.Helper()
	s := &system{url: pgtest.Database(t, store.Migrate)}
	variables := map[string]string{
		"FATHOM_DATABASE_URL": s.url, "FATHOM_BACKOFF": "1ms", "FATHOM_BACKOFF_MAX": "5ms",
		"FATHOM_SWEEP_EVERY": "100ms", "FATHOM_LOST_AFTER": "1s",
	}
	for name, value := range environment {
		variables[name] = value
	}
	var cfg state.Config
	require.NoError(t, config.LoadFrom(&cfg, variables))

	logger := slog.New(slog.DiscardHandler)
	require.NoError(t, b.Provision(t.Context()))
	s.bus = b
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	service, err := state.New(cfg, state.Deps{Bus: b, Logger: logger, Listener: listener})
	require.NoError(t, err)
	running(t, service.Run)

	conn, err := rpc.Dial(listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	s.client = researchv1.NewResearchServiceClient(conn)
	return s
}

// running runs a part until the test ends, and requires that it ends well.
func running(t *testing.T, run func(ctx context.Context) error) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	t.Cleanup(func() {
		stop()
		select {
		case err := <-ended:
			require.NoError(t, err)
		case <-time.After(30 * time.Second):
			t.Error("a part does not stop")
		}
	})
}

// workers serve every kind with handle, or with answer where it returns nothing.
func (s *system) workers(t *testing.T, handle bus.Handler) {
	t.Helper()
	for _, kind := range bus.Kinds {
		running(t, func(ctx context.Context) error {
			return s.bus.Work(ctx, bus.Worker{Kind: kind, Slots: 8, Grace: 50 * time.Millisecond, Handle: func(ctx context.Context, task *workv1.Task) (*workv1.Result, error) {
				if handle != nil {
					result, err := handle(ctx, task)
					if result != nil || err != nil {
						return result, err
					}
				}
				return answer(task), nil
			}})
		})
	}
}

// answer is a worker of every kind that always succeeds.
func answer(task *workv1.Task) *workv1.Result {
	result := &workv1.Result{Usage: &workv1.Usage{ModelCalls: 1, InputTokens: 100, OutputTokens: 10}}
	switch bus.KindOf(task) {
	case bus.Questions:
		questions := new(workv1.QuestionsResult)
		for i := range task.GetQuestions().GetN() {
			questions.Questions = append(questions.Questions, fmt.Sprintf("Question %d?", i+1))
		}
		result.Payload = &workv1.Result_Questions{Questions: questions}
	case bus.Queries:
		planned, parent := new(workv1.QueriesResult), "q"
		for _, link := range task.GetQueries().GetChain() {
			parent = link.GetQuery()
		}
		for i := range task.GetQueries().GetN() {
			text := fmt.Sprintf("%s.%d", parent, i)
			planned.Queries = append(planned.Queries, &workv1.PlannedQuery{Text: text, Objective: "objective of " + text})
		}
		result.Payload = &workv1.Result_Queries{Queries: planned}
	case bus.Search:
		found := new(workv1.SearchResult)
		for i := range 3 {
			url := fmt.Sprintf("https://example.org/%s/%d", task.GetSearch().GetQuery(), i)
			found.Hits = append(found.Hits, &workv1.Hit{Url: url, NormalizedUrl: url})
		}
		result.Payload = &workv1.Result_Search{Search: found}
	case bus.Scrape:
		text := "Text of " + task.GetScrape().GetUrl()
		result.Payload = &workv1.Result_Scrape{Scrape: &workv1.ScrapeResult{Page: &workv1.Page{Title: "Title", Text: text, ContentType: "text/html"}, Raw: []byte("raw bytes")}}
	case bus.Analyze:
		text := task.GetAnalyze().GetText()
		result.Payload = &workv1.Result_Analyze{Analyze: &workv1.AnalyzeResult{Extractions: []*workv1.Extraction{
			{Claim: "Claim: " + text, Quote: text, End: int32(len(text)), Url: task.GetAnalyze().GetUrl()},
		}}}
	case bus.Report:
		result.Payload = &workv1.Result_Report{Report: written(task.GetReport())}
	}
	return result
}

// written cites the first extraction of each query.
func written(task *workv1.ReportTask) *workv1.ReportResult {
	report := &workv1.ReportResult{Markdown: "# Report\n"}
	for i, q := range task.GetQueries() {
		if len(q.GetExtractions()) == 0 {
			continue
		}
		first := q.GetExtractions()[0]
		report.Citations = append(report.Citations, &workv1.Citation{
			Number: int32(i + 1), Url: first.GetUrl(), Title: first.GetTitle(), ExtractionIds: []int64{first.GetExtractionId()},
		})
	}
	return report
}

// ask creates a research and returns its id.
func (s *system) ask(t *testing.T, questions int32) string {
	t.Helper()
	asked, err := s.client.CreateQuestions(t.Context(), &researchv1.CreateQuestionsRequest{InitialPrompt: "Why?", NumQuestions: questions}, grpc.WaitForReady(true))
	require.NoError(t, err)
	require.Len(t, asked.GetFollowupQuestions(), int(questions))
	return asked.GetResearchId()
}

// begin creates a research of two questions and starts it.
func (s *system) begin(t *testing.T, depth, breadth int32) string {
	t.Helper()
	id := s.ask(t, 2)
	_, err := s.client.StartResearch(t.Context(), &researchv1.StartResearchRequest{
		ResearchId: id, FollowupAnswers: []string{"one", ""}, Depth: depth, Breadth: breadth,
	})
	require.NoError(t, err)
	return id
}

// watch reads a research's events to their end.
func (s *system) watch(t *testing.T, id string) []*researchv1.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stream, err := s.client.WatchResearch(ctx, &researchv1.WatchResearchRequest{ResearchId: id})
	require.NoError(t, err)
	var events []*researchv1.Event
	for {
		event, err := stream.Recv()
		if err != nil {
			require.EqualError(t, err, "EOF")
			return events
		}
		events = append(events, event)
		require.Equal(t, int32(len(events)), event.GetSequence(), "a gap in the events")
	}
}

func (s *system) get(t *testing.T, id string) *researchv1.Research {
	t.Helper()
	record, err := s.client.GetResearch(t.Context(), &researchv1.GetResearchRequest{ResearchId: id})
	require.NoError(t, err)
	return record
}
