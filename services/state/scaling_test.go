package state_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/fathom-research/fathom/platform/bus"
	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// TestScalingUnderLoadLosesNothing runs researches on one worker of each kind, then
// on ten, then on one again: the nine are stopped in the middle of their tasks.
func TestScalingUnderLoadLosesNothing(t *testing.T) {
	t.Parallel()
	const researches, depth, breadth = 10, 2, 3
	s := start(t, nil)
	var handled, interrupted atomic.Int64
	grown, shrunk := make(chan struct{}), make(chan struct{})
	busy := func(ctx context.Context, task *workv1.Task) (*workv1.Result, error) {
		select {
		case <-ctx.Done():
			interrupted.Add(1)
			return nil, context.Cause(ctx)
		case <-time.After(time.Duration(5+rand.IntN(30)) * time.Millisecond):
		}
		switch handled.Add(1) {
		case 60:
			close(grown)
		case 300:
			close(shrunk)
		}
		return answer(task), nil
	}
	s.fleet(t, t.Context(), 1, busy)
	ids := make([]string, researches)
	for i := range ids {
		ids[i] = s.begin(t, depth, breadth)
	}
	<-grown
	crowd, leave := context.WithCancel(t.Context())
	defer leave()
	s.fleet(t, crowd, 9, busy)
	<-shrunk
	leave()

	for _, id := range ids {
		s.watch(t, id)
		record := s.get(t, id)
		require.Equal(t, "completed", record.GetStatus())
		require.Len(t, record.GetSerpQueries(), 9)
		require.EqualValues(t, 27, record.GetCounts().GetWebsitesAnalyzed())
	}
	require.Positive(t, interrupted.Load(), "nobody was stopped in the middle")
	require.Zero(t, s.count(t, "SELECT count(*) FROM task WHERE attempt > 0 OR state <> 'done'"), "an attempt was used up")
	t.Logf("%d tasks done, %d tries broken off by workers that left", handled.Load(), interrupted.Load())
}

// fleet runs n workers of every kind until ctx ends, and lets none of them finish
// what it has begun by then.
func (s *system) fleet(t *testing.T, ctx context.Context, n int, handle bus.Handler) {
	t.Helper()
	for range n {
		for _, kind := range bus.Kinds {
			running(t, func(end context.Context) error {
				work, stop := context.WithCancel(end)
				defer stop()
				defer context.AfterFunc(ctx, stop)()
				return s.bus.Work(work, bus.Worker{Kind: kind, Slots: 1, Grace: time.Nanosecond, Handle: handle})
			})
		}
	}
}

func (s *system) count(t *testing.T, sql string) int {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	var n int
	require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&n))
	return n
}

// TestRejectedResultsCostOneTryEach answers each task with something first that
// state can't use.
func TestRejectedResultsCostOneTryEach(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	var mutex sync.Mutex
	rejected := make(map[bus.Kind]int)
	s.workers(t, func(_ context.Context, task *workv1.Task) (*workv1.Result, error) {
		if task.GetAttempt() > 0 {
			return nil, nil
		}
		mutex.Lock()
		defer mutex.Unlock()
		rejected[bus.KindOf(task)]++
		return useless(task), nil
	})
	ids := make([]string, 3)
	var group errgroup.Group
	for i := range ids {
		group.Go(func() error {
			ids[i] = s.begin(t, 2, 2)
			return nil
		})
	}
	require.NoError(t, group.Wait())
	for _, id := range ids {
		s.watch(t, id)
		record := s.get(t, id)
		require.Equal(t, "completed", record.GetStatus())
		require.Len(t, record.GetSerpQueries(), 4)
		require.EqualValues(t, 12, record.GetCounts().GetWebsitesAnalyzed())
	}
	for _, kind := range bus.Kinds {
		require.NotZero(t, rejected[kind], kind)
	}
	require.Zero(t, s.count(t, "SELECT count(*) FROM task WHERE attempt <> 1 OR state <> 'done'"))
	list, err := s.client.ListDeadTasks(t.Context(), new(researchv1.ListDeadTasksRequest))
	require.NoError(t, err)
	require.Empty(t, list.GetDeadTasks())
}

// useless is an answer of the right form, or of another kind, that is not usable.
func useless(task *workv1.Task) *workv1.Result {
	result := answer(task)
	switch bus.KindOf(task) {
	case bus.Questions:
		result.GetQuestions().Questions = result.GetQuestions().GetQuestions()[1:]
	case bus.Queries:
		result.GetQueries().Queries[0].Text = " "
	case bus.Analyze:
		result.GetAnalyze().Extractions[0].Start = -1
	case bus.Report:
		result.GetReport().Markdown = ""
	default:
		result.Payload = &workv1.Result_Report{Report: &workv1.ReportResult{Markdown: "of another kind"}}
	}
	return result
}
