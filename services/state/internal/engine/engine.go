// Package engine changes researches: it applies what workers report and what people
// ask for. Each change is one transaction of the store, in which workflow.Decide says
// what comes next.
package engine

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// Settings are the engine's rules that a person may change.
type Settings struct {
	Retry workflow.RetryPolicy
	// SearchLimit is the most pages of a query.
	SearchLimit int
	// DomainPages is the most pages of one domain that a research reads; 0 is no bound.
	DomainPages int
	// Deadline bounds a research, from its start.
	Deadline time.Duration
	// TokenLimits are the most model tokens of one task of a kind, in a research with
	// a budget of tokens or cost; a kind without one uses no model.
	TokenLimits map[bus.Kind]int64
	Prices      Prices
	// Tenant is the budget that the researches of each tenant share; 0 is no bound.
	// Its Seconds are not looked at.
	Tenant store.Budget
}

// Engine is safe for concurrent use.
type Engine struct {
	store    *store.Store
	settings Settings
	logger   *slog.Logger
	changed  func(researchID string, changed store.Changed)
	jitter   func() float64
}

// New makes an Engine. changed is called after each commit that added events or
// tasks; it must not block.
func New(st *store.Store, settings Settings, logger *slog.Logger, changed func(researchID string, changed store.Changed)) *Engine {
	return &Engine{store: st, settings: settings, logger: logger, changed: changed, jitter: rand.Float64}
}

// update is store.Update, charges the tenant, and tells of the change.
func (e *Engine) update(ctx context.Context, tenant, researchID string, fn func(tx *store.Tx) error) (store.Changed, error) {
	changed, err := e.store.Update(ctx, tenant, researchID, e.charged(ctx, fn))
	e.tell(researchID, changed)
	return changed, err
}

// updateTask is update with a task.
func (e *Engine) updateTask(ctx context.Context, tenant, researchID, taskID string, fn func(tx *store.Tx, task store.Task) error) error {
	changed, err := e.store.UpdateTask(ctx, tenant, researchID, taskID, func(tx *store.Tx, task store.Task) error {
		return e.charged(ctx, func(tx *store.Tx) error { return fn(tx, task) })(tx)
	})
	e.tell(researchID, changed)
	return err
}

// tell reports a change. It may be committed although its answer was lost.
func (e *Engine) tell(researchID string, changed store.Changed) {
	if changed.Events || changed.Tasks {
		e.changed(researchID, changed)
	}
}

// charged is fn, after which the tenant is charged what the research used, in the same
// transaction. Without a budget of tenants nothing is counted.
func (e *Engine) charged(ctx context.Context, fn func(tx *store.Tx) error) func(tx *store.Tx) error {
	if !e.tenantBudget() {
		return fn
	}
	return func(tx *store.Tx) error {
		err := fn(tx)
		if err != nil {
			return err
		}
		return tx.ChargeTenant(ctx)
	}
}

// setStatus moves the research on. While it is paused, what it would move on to is
// kept for later; an end comes at once.
func setStatus(tx *store.Tx, status workflow.Status, reason, message string) {
	r := tx.R
	if r.Status == workflow.Paused && !status.Ended() {
		r.PausedFrom = status
		return
	}
	r.Status, r.PausedFrom, r.PausedAt = status, "", nil
	if reason != "" {
		r.Reason, r.ErrorMessage = reason, message
	}
	if status.Ended() {
		now := tx.Now
		r.FinishedAt = &now
		r.OpenQueries, r.Reserved = 0, 0
	}
	tx.Tell(store.Event{Type: "research." + string(status), Reason: reason, Message: message})
}

// follow does what was decided. query is the one that it happened to, or nil for the
// research itself; reason and message are those of its end.
func (e *Engine) follow(ctx context.Context, tx *store.Tx, next workflow.Next, query *store.Query, reason, message string) error {
	if next.Query != "" {
		err := finishQuery(ctx, tx, query.ID, next.Query, reason, message)
		if err != nil {
			return err
		}
	}
	if next.Expanded {
		err := tx.MarkExpanded(ctx, query.ID)
		if err != nil {
			return err
		}
	}
	tx.R.OpenQueries += next.OpenQueries
	err := e.addTasks(ctx, tx, next, query)
	if err != nil {
		return err
	}
	if next.ErrorOutput {
		// Told first, so that the end of a research is its last event.
		tx.Tell(store.Event{Type: "error_output.written"})
	}
	if next.Status != "" {
		if next.Status != workflow.Failed {
			reason, message = "", ""
		}
		setStatus(tx, next.Status, reason, message)
	}
	if next.ErrorOutput {
		return writeErrorOutput(ctx, tx)
	}
	return nil
}

// addTasks inserts what was decided. An expansion that the budget has no room for is
// one that failed, except that nothing is wrong with it.
func (e *Engine) addTasks(ctx context.Context, tx *store.Tx, next workflow.Next, query *store.Query) error {
	if next.Report {
		// Its tokens were set aside at the start, and nothing else is open.
		tx.R.Reserved = 0
		return tx.AddTasks(ctx, e.reserve(tx, store.Task{Kind: bus.Report}))
	}
	if next.Expand == 0 {
		return nil
	}
	if query == nil {
		return tx.AddTasks(ctx, e.reserve(tx, store.Task{Kind: bus.Queries}))
	}
	room, short, err := e.room(ctx, tx, bus.Queries)
	if err != nil {
		return err
	}
	if room > 0 {
		room, short, err = e.scarcest(ctx, tx, purse.queries)
		if err != nil {
			return err
		}
	}
	if room == 0 {
		limited(tx, short)
		closed := workflow.Decide(situation(tx, workflow.PlanFailed, query))
		closed.ErrorOutput = false
		return e.follow(ctx, tx, closed, query, "", "")
	}
	return tx.AddTasks(ctx, e.reserve(tx, store.Task{Kind: bus.Queries, QueryID: query.ID}))
}

func finishQuery(ctx context.Context, tx *store.Tx, id string, status workflow.QueryStatus, reason, message string) error {
	err := tx.FinishQuery(ctx, id, status, reason, message)
	if err != nil {
		return err
	}
	tx.Tell(store.Event{Type: "query." + string(status), QueryID: id, Reason: reason, Message: message})
	return nil
}

// situation is what Decide needs to know of a query's happening.
func situation(tx *store.Tx, happening workflow.Happening, query *store.Query) workflow.Situation {
	s := workflow.Situation{
		Happening: happening, Depth: tx.R.Depth, Breadth: tx.R.Breadth, OpenQueries: tx.R.OpenQueries,
	}
	if query != nil {
		s.Query = workflow.QuerySituation{Depth: query.Depth, Breadth: query.Breadth, URLsOpen: query.URLsOpen}
	}
	return s
}
