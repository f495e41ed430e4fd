package engine

import (
	"context"

	"github.com/fathom-research/fathom/platform/bus"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/store"
)

// replan has a plan made anew that holds a query which another branch was given while
// this one was planned: its planner could not know, and the same search would be read
// and paid for twice. It is no attempt, and done once: the second plan stands, whatever
// it holds. An empty outcome says that the plan stands.
func (e *Engine) replan(ctx context.Context, tx *store.Tx, task store.Task, result *workv1.Result) (Outcome, error) {
	if task.Kind != bus.Queries || task.Attempt > 0 || result.GetDelivery() > 0 {
		return "", nil
	}
	_, want, err := planOf(ctx, tx, task)
	if err != nil || len(result.GetQueries().GetQueries()) != want {
		// What can't be used is another's to refuse.
		return "", err
	}
	var texts []string
	for _, planned := range result.GetQueries().GetQueries() {
		texts = append(texts, planned.GetText())
	}
	double, err := tx.AnyQuery(ctx, texts)
	if err != nil || !double {
		return "", err
	}
	if task.Delivery > 0 {
		// It is on its way already.
		return Late, nil
	}
	if task.Reserved > 0 {
		over, _, err := e.overspent(ctx, tx)
		if err != nil || over {
			return "", err
		}
	}
	task.Delivery++
	return Deferred, tx.Reschedule(ctx, task, 0)
}
