package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/store"
)

// Outcome says what became of a result.
type Outcome string

// What can become of a result.
const (
	Applied  Outcome = "applied"
	Late     Outcome = "late" // its task is closed, or its attempt is over
	Retried  Outcome = "retried"
	Deferred Outcome = "deferred"
	Failed   Outcome = "failed"
)

// Apply stores what a worker reported and what follows from it. It may be called
// with the same result any number of times, in any order with others: a task is
// settled once. After an error the result must come again.
func (e *Engine) Apply(ctx context.Context, result *workv1.Result) (Outcome, error) {
	if !store.ValidID(result.GetResearchId()) || !store.ValidID(result.GetTaskId()) {
		e.logger.WarnContext(ctx, "dropped a result of no task", "research_id", result.GetResearchId(), "task_id", result.GetTaskId())
		return Late, nil
	}
	clean(result)
	outcome, err := e.apply(ctx, result)
	if err == nil || !store.Refused(err) {
		return outcome, err
	}
	// The database refuses this content however often it comes: the try has failed.
	refused := &workv1.Result{
		ResearchId: result.GetResearchId(), TaskId: result.GetTaskId(), Tenant: result.GetTenant(), Kind: result.GetKind(),
		Attempt: result.GetAttempt(), Delivery: result.GetDelivery(), Usage: result.GetUsage(),
		Failure: fault.ToProto(fault.Transient(fault.InvalidAnswer, "the result can't be stored: %w", err)),
	}
	clean(refused)
	outcome, again := e.apply(ctx, refused)
	if again != nil {
		return outcome, errors.Join(err, again)
	}
	return outcome, nil
}

func (e *Engine) apply(ctx context.Context, result *workv1.Result) (Outcome, error) {
	outcome := Late
	err := e.updateTask(ctx, result.GetTenant(), result.GetResearchId(), result.GetTaskId(), func(tx *store.Tx, task store.Task) error {
		if !task.Open() {
			return nil
		}
		// What is decided depends on what was spent.
		before := tx.R.Spending
		tx.R.Spending.ModelCalls += int(plausible(int64(result.GetUsage().GetModelCalls()), mostCalls))
		tx.R.Spending.InputTokens += plausible(result.GetUsage().GetInputTokens(), mostTokens)
		tx.R.Spending.OutputTokens += plausible(result.GetUsage().GetOutputTokens(), mostTokens)
		var err error
		outcome, err = e.settle(ctx, tx, task, result)
		if outcome == Late {
			tx.R.Spending = before
		}
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		// The research is deleted.
		return Late, nil
	}
	if err != nil {
		return outcome, fmt.Errorf("apply a result of task %s: %w", result.GetTaskId(), err)
	}
	return outcome, nil
}

// These are more than any try uses. A worker that counts wrongly must not overflow
// what its research has used: no result of the research could be stored any more.
const (
	mostCalls  = 1 << 16
	mostTokens = 1 << 40
)

func plausible(n, most int64) int64 { return min(max(n, 0), most) }

// settle decides between the ways a try can end.
func (e *Engine) settle(ctx context.Context, tx *store.Tx, task store.Task, result *workv1.Result) (Outcome, error) {
	switch {
	case result.GetDeferred() != nil:
		return e.deferTask(ctx, tx, task, result)
	case result.GetFailure() != nil:
		return e.fail(ctx, tx, task, result, result.GetFailure())
	}
	outcome, err := e.replan(ctx, tx, task, result)
	if err != nil || outcome != "" {
		return outcome, err
	}
	unusable, err := e.succeed(ctx, tx, task, result)
	if err != nil {
		return Late, err
	}
	if unusable != nil {
		return e.fail(ctx, tx, task, result, fault.ToProto(unusable))
	}
	return Applied, nil
}

// succeed applies a payload. An unusable one changes nothing and is returned as the
// fault that it is.
func (e *Engine) succeed(ctx context.Context, tx *store.Tx, task store.Task, result *workv1.Result) (*fault.Error, error) {
	if kindOf(result) != task.Kind {
		return fault.Transient(fault.InvalidAnswer, "a %s task was answered with %q", task.Kind, kindOf(result)), nil
	}
	switch task.Kind {
	case bus.Questions:
		return e.questions(ctx, tx, task, result.GetQuestions())
	case bus.Queries:
		return e.queries(ctx, tx, task, result.GetQueries())
	case bus.Search:
		return e.search(ctx, tx, task, result.GetSearch())
	case bus.Scrape:
		return e.scrape(ctx, tx, task, result.GetScrape())
	case bus.Analyze:
		return e.analyze(ctx, tx, task, result.GetAnalyze())
	default:
		return e.report(ctx, tx, task, result.GetReport())
	}
}

// kindOf is the kind of the result's payload, whatever the result calls itself.
func kindOf(result *workv1.Result) bus.Kind {
	switch result.GetPayload().(type) {
	case *workv1.Result_Questions:
		return bus.Questions
	case *workv1.Result_Queries:
		return bus.Queries
	case *workv1.Result_Search:
		return bus.Search
	case *workv1.Result_Scrape:
		return bus.Scrape
	case *workv1.Result_Analyze:
		return bus.Analyze
	case *workv1.Result_Report:
		return bus.Report
	default:
		return ""
	}
}

// done closes a task that succeeded.
func done(ctx context.Context, tx *store.Tx, task store.Task) error {
	release(tx, task)
	return tx.CloseTask(ctx, task, store.TaskDone, string(fault.OK), "", false)
}
