package engine

import (
	"context"
	"time"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// longestDeferral bounds what a worker's clock can do to a task.
const longestDeferral = 15 * time.Minute

// deferTask publishes the task again later. It is no attempt. Only the delivery that
// stands counts: an older one was replaced already.
func (e *Engine) deferTask(ctx context.Context, tx *store.Tx, task store.Task, result *workv1.Result) (Outcome, error) {
	if int(result.GetAttempt()) != task.Attempt || int(result.GetDelivery()) != task.Delivery {
		return Late, nil
	}
	wait := result.GetDeferred().GetUntil().AsTime().Sub(tx.Now)
	task.Delivery++
	return Deferred, tx.Reschedule(ctx, task, min(max(wait, 0), longestDeferral))
}

// fail counts a failed try, if it is the current one: the task gets another, or has
// failed for good.
func (e *Engine) fail(ctx context.Context, tx *store.Tx, task store.Task, result *workv1.Result, failure *workv1.Failure) (Outcome, error) {
	if int(result.GetAttempt()) != task.Attempt {
		return Late, nil
	}
	wait, again := e.settings.Retry.Again(workflow.Failure{
		Attempt: task.Attempt, Retryable: failure.GetRetryable(), RetryAfter: failure.GetRetryAfter().AsDuration(),
	}, e.jitter())
	if again && task.Reserved > 0 {
		over, short, err := e.overspent(ctx, tx)
		if err != nil {
			return Late, err
		}
		if over {
			return Failed, e.failOverBudget(ctx, tx, task, result, short)
		}
	}
	if again {
		task.Attempt++
		task.Delivery = 0
		task.Code, task.Message = failure.GetCode(), failure.GetMessage()
		return Retried, tx.Reschedule(ctx, task, wait)
	}
	return Failed, e.failForGood(ctx, tx, task, result.GetReport(), known(failure))
}

// failOverBudget gives a task up whose next try nobody can pay.
func (e *Engine) failOverBudget(ctx context.Context, tx *store.Tx, task store.Task, result *workv1.Result, short purse) error {
	limited(tx, short)
	over := fault.Permanent(fault.OverBudget, "the budget leaves no room for another try: %s", result.GetFailure().GetMessage())
	return e.failForGood(ctx, tx, task, result.GetReport(), over)
}

// failForGood closes a task as failed and goes on without its result. partial is
// what a report came to.
func (e *Engine) failForGood(ctx context.Context, tx *store.Tx, task store.Task, partial *workv1.ReportResult, failure *fault.Error) error {
	code, message := string(failure.Code), failure.Message
	release(tx, task)
	err := tx.CloseTask(ctx, task, store.TaskFailed, code, message, worthBurying(task.Kind, failure.Code))
	if err != nil {
		return err
	}
	switch task.Kind {
	case bus.Questions:
		return e.follow(ctx, tx, workflow.Decide(workflow.Situation{Happening: workflow.QuestionsFailed}), nil, code, message)
	case bus.Queries:
		return e.planFailed(ctx, tx, task, code, message)
	case bus.Search:
		query, err := tx.Query(ctx, task.QueryID)
		if err != nil {
			return err
		}
		return e.follow(ctx, tx, workflow.Decide(situation(tx, workflow.SearchFailed, &query)), &query, code, message)
	case bus.Scrape:
		return e.pageFailed(ctx, tx, task.DocumentID, code, message)
	case bus.Analyze:
		return e.analysisFailed(ctx, tx, task, code, message)
	default:
		return e.reportFailed(ctx, tx, partial, code, message)
	}
}

// known makes a fault of what a worker said, with a code of the closed list.
func known(failure *workv1.Failure) *fault.Error {
	for _, code := range fault.Codes {
		if string(code) == failure.GetCode() {
			return fault.Permanent(code, "%s", failure.GetMessage())
		}
	}
	return fault.Permanent(fault.Internal, "%s", failure.GetMessage())
}

// worthBurying tells what an operator should look at from what the web is like. A
// malformed task is in DEAD already: the bus put it there.
func worthBurying(kind bus.Kind, code fault.Code) bool {
	switch code {
	case fault.Malformed:
		return false
	case fault.WorkerDied, fault.Internal, fault.InvalidAnswer, fault.Misconfigured:
		return true
	default:
		return kind != bus.Scrape && kind != bus.Analyze
	}
}
