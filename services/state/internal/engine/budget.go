package engine

import (
	"context"
	"math"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// Prices are in USD for a million tokens; 0 is unknown.
type Prices struct {
	Input  float64
	Output float64
}

// Cost is what tokens cost.
func (p Prices) Cost(input, output float64) float64 { return (input*p.Input + output*p.Output) / 1e6 }

// worst is the most that tokens can cost: it is not known before which are answers.
func (p Prices) worst(tokens int64) float64 { return float64(tokens) * max(p.Input, p.Output) / 1e6 }

const overBudget = "The budget leaves no room for it."

// limit is the most model tokens that a task of a kind may use. Without a budget
// there is none.
func (e *Engine) limit(r *store.Research, kind bus.Kind) int64 {
	for _, b := range []store.Budget{r.Budget, e.settings.Tenant} {
		if b.Tokens > 0 || b.CostUSD > 0 {
			return e.settings.TokenLimits[kind]
		}
	}
	return 0
}

// room is how many more tasks of a kind can be paid, if each takes the most that it
// may, and whose purse sets that bound. What other open tasks may still take, and
// the report, is not counted as free, so tasks that run at once never overspend
// together.
func (e *Engine) room(ctx context.Context, tx *store.Tx, kind bus.Kind) (int, purse, error) {
	each := e.limit(tx.R, kind)
	if each == 0 {
		return math.MaxInt32, purse{}, nil
	}
	return e.scarcest(ctx, tx, func(p purse) int { return p.tasks(each) })
}

// overspent reports whether what was spent and what is reserved are more than a
// budget, and whose: another try of a task would spend what is not there.
func (e *Engine) overspent(ctx context.Context, tx *store.Tx) (bool, purse, error) {
	n, p, err := e.scarcest(ctx, tx, purse.overdrawn)
	return n == 0, p, err
}

// reserve makes a task with the tokens that it may use set aside for it.
func (e *Engine) reserve(tx *store.Tx, task store.Task) store.Task {
	task.Reserved = e.limit(tx.R, task.Kind)
	tx.R.Reserved += task.Reserved
	return task
}

// release gives back what a closed task had set aside.
func release(tx *store.Tx, task store.Task) {
	tx.R.Reserved = max(0, tx.R.Reserved-task.Reserved)
}

// limited notes that a purse cut the research short.
func limited(tx *store.Tx, p purse) {
	if tx.R.Reason == "" {
		tx.R.Reason, tx.R.ErrorMessage = string(fault.OverBudget), p.usedUp()
	}
}

// dispatch inserts the next analyses of a query. Pages that the budget has no room
// for have failed.
func (e *Engine) dispatch(ctx context.Context, tx *store.Tx, queryID string) error {
	room, short, err := e.room(ctx, tx, bus.Analyze)
	if err != nil {
		return err
	}
	if room > 0 {
		reserved, err := tx.DispatchAnalyses(ctx, queryID, room, e.limit(tx.R, bus.Analyze))
		tx.R.Reserved += reserved
		return err
	}
	sites, err := tx.UnanalyzedSites(ctx, queryID)
	if err != nil {
		return err
	}
	for _, site := range sites {
		limited(tx, short)
		query, err := e.settleSite(ctx, tx, site, refused(), 0)
		if err != nil {
			return err
		}
		err = failCopies(ctx, tx, site, refused())
		if err != nil {
			return err
		}
		if query != nil && query.URLsOpen == 0 {
			return e.proceed(ctx, tx, workflow.SiteSettled, *query)
		}
	}
	return nil
}

func refused() store.Settlement {
	return store.Settlement{Status: workflow.SiteFailed, Reason: string(fault.OverBudget), Message: overBudget}
}
