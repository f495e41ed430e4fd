package engine_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/engine"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// limited begins a research with a budget.
func (w *world) limited(t testing.TB, depth, breadth int, budget store.Budget) (string, error) {
	t.Helper()
	id := w.create(t)
	w.step(t, id)
	request := startRequest(depth, breadth)
	request.Values.Budget = budget
	return id, w.engine.Start(t.Context(), tenant, id, request)
}

// greedy is a worker that uses all the tokens that its task may use.
func greedy(task *workv1.Task) *workv1.Result {
	result := answer(task)
	result.Usage = &workv1.Usage{ModelCalls: 1, InputTokens: task.GetTokenLimit()}
	return result
}

// TestParallelWorkersNeverOverspend lets 32 workers use all that they may, some of
// them failing after they used it.
func TestParallelWorkersNeverOverspend(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	for _, budget := range []int64{6100, 7000, 9000, 20000} {
		id, err := w.limited(t, 3, 5, store.Budget{Tokens: budget})
		require.NoError(t, err)
		late := time.Now().Add(time.Minute)
		for !w.status(t, id).Ended() {
			require.True(t, time.Now().Before(late), "the research hangs")
			var group errgroup.Group
			group.SetLimit(32)
			for _, task := range w.publish(t) {
				result := greedy(task)
				if bus.KindOf(task) == bus.Analyze && task.GetAttempt() == 0 && rand.IntN(3) == 0 {
					result.Payload, result.Failure = nil, fault.ToProto(fault.Transient(fault.InvalidAnswer, "nonsense"))
				}
				group.Go(func() error {
					_, err := w.engine.Apply(t.Context(), result)
					return err
				})
			}
			require.NoError(t, group.Wait())
		}
		record := w.record(t, id)
		require.LessOrEqual(t, record.Spending.InputTokens+record.Spending.OutputTokens, budget)
		require.Equal(t, string(fault.OverBudget), record.Reason)
		require.NotNil(t, record.Report, "the report's own tokens were kept back")
		require.Zero(t, record.Reserved)
		requireInvariants(t, w, id)
	}
}

func TestBudgetOfQueriesAndPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id, err := w.limited(t, 3, 4, store.Budget{Queries: 7, Pages: 5})
	require.NoError(t, err)
	var report *workv1.Task
	for !w.status(t, id).Ended() {
		for _, task := range w.publish(t) {
			if bus.KindOf(task) == bus.Report {
				report = task
			}
			require.Zero(t, task.GetTokenLimit(), "no budget of tokens")
			w.apply(t, answer(task))
		}
	}
	record := w.record(t, id)
	require.Len(t, record.Queries, 7)
	require.LessOrEqual(t, w.count(t, "SELECT count(*) FROM task WHERE kind = 'scrape'"), 5)
	require.Contains(t, report.GetReport().GetNotes()[0], "budget")
	requireInvariants(t, w, id)
}

func TestCostIsATokenBudgetToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	const budget = 0.09
	id, err := w.limited(t, 2, 4, store.Budget{CostUSD: budget})
	require.NoError(t, err)
	for !w.status(t, id).Ended() {
		for _, task := range w.publish(t) {
			w.apply(t, greedy(task))
		}
	}
	record := w.record(t, id)
	require.LessOrEqual(t, settings().Prices.Cost(float64(record.Spending.InputTokens), float64(record.Spending.OutputTokens)), budget)
	require.NotNil(t, record.Report)
}

func TestBudgetTooSmallToBegin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id, err := w.limited(t, 1, 1, store.Budget{Tokens: 5500})
	var invalid *engine.InvalidError
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, workflow.Ready, w.status(t, id), "nothing is stored by a refused request")
}
