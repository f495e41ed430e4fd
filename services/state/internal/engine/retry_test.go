package engine_test

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/engine"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// publishOne publishes the one task that is due.
func (w *world) publishOne(t testing.TB) *workv1.Task {
	t.Helper()
	var tasks []*workv1.Task
	require.Eventually(t, func() bool {
		tasks = w.publish(t)
		return len(tasks) > 0
	}, 5*time.Second, time.Millisecond)
	require.Len(t, tasks, 1)
	return tasks[0]
}

func TestFailedTriesAreRepeatedUntilTheLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id := w.create(t)
	for attempt := range int32(4) {
		task := w.publishOne(t)
		require.Equal(t, attempt, task.GetAttempt())
		require.Equal(t, workflow.Asking, w.status(t, id))
		failed := failure(task, fault.Transient(fault.Unavailable, "no model"))
		want := engine.Retried
		if attempt == 3 {
			want = engine.Failed
		}
		require.Equal(t, want, w.apply(t, failed))
		require.Equal(t, engine.Late, w.apply(t, failed), "a double counts once")
	}
	record := w.record(t, id)
	require.Equal(t, workflow.Failed, record.Status)
	require.Equal(t, string(fault.Unavailable), record.Reason)
	require.Equal(t, 4, record.Spending.ModelCalls)
	unburied, err := w.store.Unburied(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, unburied, 1)
}

func TestPermanentFailureIsNotRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id := w.create(t)
	require.Equal(t, engine.Failed, w.apply(t, failure(w.publishOne(t), fault.Permanent(fault.Misconfigured, "no key"))))
	require.Equal(t, workflow.Failed, w.status(t, id))
}

func TestSuccessOfAnOlderAttemptSettles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id := w.create(t)
	first := w.publishOne(t)
	w.apply(t, failure(first, fault.Transient(fault.WorkerDied, "silence")))
	second := w.publishOne(t)
	require.Equal(t, engine.Applied, w.apply(t, answer(first)))
	require.Equal(t, workflow.Ready, w.status(t, id))
	require.Equal(t, engine.Late, w.apply(t, answer(second)))
	require.Equal(t, engine.Late, w.apply(t, failure(second, fault.Transient(fault.Internal, "late"))))
	require.Equal(t, workflow.Ready, w.status(t, id))
}

func TestDeferralIsNoAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	w.create(t)
	for delivery := range int32(10) {
		task := w.publishOne(t)
		require.Equal(t, int32(0), task.GetAttempt())
		require.Equal(t, delivery, task.GetDelivery())
		later := reply(task)
		later.Deferred = &workv1.Deferred{Until: timestamppb.Now(), Limit: "model:x"}
		require.Equal(t, engine.Deferred, w.apply(t, later))
		require.Equal(t, engine.Late, w.apply(t, later), "a double counts once")
	}
}

func TestWaitsAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	for name, change := range map[string]func(result *workv1.Result){
		"retry after": func(result *workv1.Result) {
			result.Failure = fault.ToProto(fault.Transient(fault.RateLimited, "429").After(time.Hour))
		},
		"deferred": func(result *workv1.Result) {
			result.Deferred = &workv1.Deferred{Until: timestamppb.New(time.Now().Add(10 * time.Minute))}
		},
	} {
		w.create(t)
		result := reply(w.publishOne(t))
		change(result)
		w.apply(t, result)
		require.Empty(t, w.publish(t), name)
	}
}

func TestUnusableResultIsAFailedTry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	for name, change := range map[string]func(result *workv1.Result){
		"no payload": func(result *workv1.Result) { result.Payload = nil },
		"too few":    func(result *workv1.Result) { result.GetQuestions().Questions = nil },
		"another kind": func(result *workv1.Result) {
			result.Payload = &workv1.Result_Report{Report: &workv1.ReportResult{Markdown: "x"}}
		},
		"an unknown failure": func(result *workv1.Result) { result.Failure = &workv1.Failure{Code: "odd", Retryable: true} },
	} {
		w.create(t)
		result := answer(w.publishOne(t))
		change(result)
		require.Equal(t, engine.Retried, w.apply(t, result), name)
		w.apply(t, answer(w.publishOne(t)))
	}
}

func TestUsageBeyondReasonIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id := w.create(t)
	for range 3 {
		failed := failure(w.publishOne(t), fault.Transient(fault.Unavailable, "no model"))
		failed.Usage = &workv1.Usage{ModelCalls: math.MaxInt32, InputTokens: math.MaxInt64, OutputTokens: -1}
		require.Equal(t, engine.Retried, w.apply(t, failed))
	}
	w.apply(t, answer(w.publishOne(t)))
	require.Equal(t, workflow.Ready, w.status(t, id))
}

func TestWhatTheDatabaseRefusesIsAFailedTry(t *testing.T) {
	t.Parallel()
	var refuse atomic.Bool
	w := newWorld(t, database(t), store.Hooks{BeforeCommit: func(context.Context) error {
		if refuse.CompareAndSwap(true, false) {
			return &pgconn.PgError{Code: "22021", Message: "invalid byte sequence"}
		}
		return nil
	}})
	id := w.create(t)
	task := w.publishOne(t)
	refuse.Store(true)
	require.Equal(t, engine.Retried, w.apply(t, answer(task)))
	w.apply(t, answer(w.publishOne(t)))
	require.Equal(t, workflow.Ready, w.status(t, id))
}

func TestResultsOfNobodyAreDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id := w.create(t)
	task := w.publishOne(t)
	for name, change := range map[string]func(result *workv1.Result){
		"no research":      func(result *workv1.Result) { result.ResearchId = store.NewID() },
		"no id":            func(result *workv1.Result) { result.ResearchId = "x" },
		"no task":          func(result *workv1.Result) { result.TaskId = store.NewID() },
		"another's tenant": func(result *workv1.Result) { result.Tenant = "other" },
	} {
		result := answer(task)
		change(result)
		require.Equal(t, engine.Late, w.apply(t, result), name)
	}
	nobody := answer(task)
	nobody.Tenant = ""
	require.Equal(t, engine.Applied, w.apply(t, nobody), "an advisory knows no tenant")
	require.Equal(t, workflow.Ready, w.status(t, id))
}

func TestTextThatPostgresRefusesIsCleaned(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id := w.create(t)
	result := answer(w.publishOne(t))
	result.GetQuestions().Questions[0] = "nul \x00 and \xff end"
	require.Equal(t, engine.Applied, w.apply(t, result))
	require.Equal(t, []string{"nul   and ? end"}, w.record(t, id).Questions)
}

func TestMessagesCarryWhatAWorkerNeeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id := w.running(t, 3, 4)
	kinds := make(map[bus.Kind]*workv1.Task)
	deepest := 0
	for {
		tasks := w.publish(t)
		if len(tasks) == 0 {
			break
		}
		for _, task := range tasks {
			kinds[bus.KindOf(task)] = task
			deepest = max(deepest, len(task.GetQueries().GetChain()))
			if chain := task.GetQueries().GetChain(); len(chain) > 0 {
				require.Equal(t, "q", chain[0].GetQuery()[:1])
				require.NotEmpty(t, task.GetQueries().GetTaken())
			}
			w.apply(t, answer(task))
		}
	}
	require.Equal(t, 2, deepest)
	analyze := kinds[bus.Analyze].GetAnalyze()
	require.Equal(t, "prompt", analyze.GetPrompt())
	require.Equal(t, content(analyze.GetUrl()), analyze.GetText())
	require.Equal(t, "Title of "+analyze.GetUrl(), analyze.GetTitle())
	require.Len(t, analyze.GetSections(), 1)
	report := kinds[bus.Report].GetReport()
	require.Len(t, report.GetQueries(), len(expect(3, 4)))
	require.Equal(t, "an answer", report.GetClarifications()[0].GetAnswer())
	require.NotZero(t, report.GetTally().GetReasons()[string(fault.Blocked)])
	require.NotEmpty(t, report.GetNotes())
	seen := map[string]bool{"": true}
	for _, q := range report.GetQueries() {
		require.True(t, seen[q.GetParentQueryId()], "a child before its parent")
		seen[q.GetQueryId()] = true
		for _, e := range q.GetExtractions() {
			require.Positive(t, e.GetExtractionId())
			require.Contains(t, e.GetUrl(), "https://Example.org/")
		}
	}
	require.True(t, w.status(t, id).Ended())
}
