package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// Tx is a transaction that holds the lock of one research. R may be changed; it is
// written back before the commit.
type Tx struct {
	tx *pipeline
	R  *Research
	// Now is the database's time at the transaction's begin.
	Now time.Time

	before Research
	// began is what the research had used at the transaction's begin; tenant is what
	// its tenant had, once that was asked for.
	began   Used
	tenant  *Used
	events  []Event
	changed Changed
	deleted bool
}

// Changed says what a committed transaction left to be told to others.
type Changed struct {
	Tenant string
	// Events and Tasks report whether there are new ones.
	Events bool
	Tasks  bool
	Status workflow.Status
}

// Update runs fn in a transaction that holds the lock of the research: every other
// change of it waits, so fn reads what is true until the commit. Nothing is locked
// before it, and fn must not wait on the network. An empty tenant stands for
// whichever owns the research.
//
// After an error the commit may still have happened; fn must bear being called
// again with the same facts.
func (s *Store) Update(ctx context.Context, tenant, id string, fn func(tx *Tx) error) (Changed, error) {
	return s.inTx(ctx, func(tx pgx.Tx) (*Tx, error) {
		locked, err := lock(ctx, tx, tenant, id)
		if err != nil {
			return nil, err
		}
		return locked, fn(locked)
	})
}

// Create stores a research and runs fn under its lock, in one transaction.
func (s *Store) Create(ctx context.Context, r NewResearch, fn func(tx *Tx) error) (Changed, error) {
	return s.inTx(ctx, func(tx pgx.Tx) (*Tx, error) {
		err := insertResearch(ctx, tx, r)
		if err != nil {
			return nil, err
		}
		locked, err := lock(ctx, tx, r.Tenant, r.ID)
		if err != nil {
			return nil, err
		}
		return locked, fn(locked)
	})
}

func (s *Store) inTx(ctx context.Context, fn func(tx pgx.Tx) (*Tx, error)) (Changed, error) {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return Changed{}, fmt.Errorf("begin: %w", err)
	}
	// After a commit this does nothing.
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()

	locked, err := fn(tx)
	if err != nil {
		return Changed{}, err
	}
	err = locked.Flush(ctx)
	if err != nil {
		return Changed{}, err
	}
	if s.hooks.BeforeCommit != nil {
		err := s.hooks.BeforeCommit(ctx)
		if err != nil {
			return Changed{}, err
		}
	}
	err = tx.Commit(ctx)
	if err != nil {
		return Changed{}, fmt.Errorf("commit: %w", err)
	}
	locked.changed.Tenant, locked.changed.Status = locked.R.Tenant, locked.R.Status
	if s.hooks.AfterCommit != nil {
		err := s.hooks.AfterCommit(ctx)
		if err != nil {
			return locked.changed, err
		}
	}
	return locked.changed, nil
}

func lock(ctx context.Context, tx pgx.Tx, tenant, id string) (*Tx, error) {
	locked, err := one(ctx, tx, func(row pgx.CollectableRow) (*Tx, error) {
		t := &Tx{tx: &pipeline{tx: tx}, R: new(Research)}
		return t, row.Scan(append(t.R.targets(), &t.Now)...)
	}, `SELECT `+researchColumns+`, clock_timestamp() FROM research
		WHERE id = $1 AND ($2 = '' OR tenant = $2) FOR NO KEY UPDATE`, id, tenant)
	if errors.Is(err, ErrNotFound) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("lock research %s: %w", id, err)
	}
	locked.before = *locked.R
	locked.began = locked.R.Used()
	return locked, nil
}

// Flush writes R and the events so far, for statements of the same transaction that
// read them. It happens by itself before the commit.
func (t *Tx) Flush(ctx context.Context) error {
	batch := new(pgx.Batch)
	if !t.deleted {
		t.queueEvents(batch)
		t.queueResearch(batch)
	}
	err := t.tx.send(ctx, batch)
	if err != nil {
		return fmt.Errorf("write research %s: %w", t.R.ID, err)
	}
	t.events = nil
	t.before = *t.R
	return nil
}

func (t *Tx) queueResearch(batch *pgx.Batch) {
	r := t.R
	if sameRow(r, &t.before) {
		return
	}
	batch.Queue(`UPDATE research SET status = $3, paused_from = nullif($4, ''), paused_at = $5, reason = $6, error_message = $7,
		model_calls = $8, input_tokens = $9, output_tokens = $10, open_queries = $11, event_sequence = $12,
		traceparent = $13, started_at = $14, finished_at = $15, deadline = $16,
		reserved_tokens = $17, queries_made = $18, pages_used = $19
		WHERE id = $1 AND tenant = $2`,
		r.ID, r.Tenant, r.Status, string(r.PausedFrom), r.PausedAt, r.Reason, r.ErrorMessage,
		r.Spending.ModelCalls, r.Spending.InputTokens, r.Spending.OutputTokens, r.OpenQueries, r.EventSequence,
		r.Traceparent, r.StartedAt, r.FinishedAt, r.Deadline, r.Reserved, r.QueriesMade, r.PagesUsed)
}

// sameRow compares what queueResearch writes.
func sameRow(a, b *Research) bool {
	return a.Status == b.Status && a.PausedFrom == b.PausedFrom && a.PausedAt == b.PausedAt &&
		a.Reason == b.Reason && a.ErrorMessage == b.ErrorMessage && a.Spending == b.Spending &&
		a.OpenQueries == b.OpenQueries && a.EventSequence == b.EventSequence && a.Traceparent == b.Traceparent &&
		a.StartedAt == b.StartedAt && a.FinishedAt == b.FinishedAt && a.Deadline == b.Deadline &&
		a.Reserved == b.Reserved && a.QueriesMade == b.QueriesMade && a.PagesUsed == b.PagesUsed
}
