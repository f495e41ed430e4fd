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
	return s.inTx(ctx, func(p *pipeline) (*Tx, error) {
		locked, err := lock(ctx, p, tenant, id, new(pgx.Batch))
		if err != nil {
			return nil, err
		}
		return locked, fn(locked)
	})
}

// UpdateTask is Update with a task of the research, as it is under the lock. A task
// that is not there is closed.
func (s *Store) UpdateTask(ctx context.Context, tenant, id, taskID string, fn func(tx *Tx, task Task) error) (Changed, error) {
	return s.inTx(ctx, func(p *pipeline) (*Tx, error) {
		var task Task
		batch := new(pgx.Batch)
		batch.Queue(selectTask, taskID, id, tenant).QueryRow(func(row pgx.Row) error {
			err := row.Scan(task.targets()...)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			return err
		})
		locked, err := lock(ctx, p, tenant, id, batch)
		if err != nil {
			return nil, err
		}
		return locked, fn(locked, task)
	})
}

// Create stores a research and runs fn under its lock, in one transaction.
func (s *Store) Create(ctx context.Context, r NewResearch, fn func(tx *Tx) error) (Changed, error) {
	return s.inTx(ctx, func(p *pipeline) (*Tx, error) {
		err := insertResearch(ctx, p, r)
		if err != nil {
			return nil, err
		}
		locked, err := lock(ctx, p, r.Tenant, r.ID, new(pgx.Batch))
		if err != nil {
			return nil, err
		}
		return locked, fn(locked)
	})
}

func (s *Store) inTx(ctx context.Context, fn func(p *pipeline) (*Tx, error)) (Changed, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return Changed{}, fmt.Errorf("connect: %w", err)
	}
	defer conn.Release()
	p := begin(conn.Conn())
	// After a commit this does nothing.
	defer func() { p.rollback(context.WithoutCancel(ctx)) }()

	locked, err := fn(p)
	if err != nil {
		return Changed{}, err
	}
	if s.hooks.BeforeCommit != nil {
		err := s.hooks.BeforeCommit(ctx)
		if err != nil {
			return Changed{}, err
		}
	}
	err = locked.commit(ctx)
	if err != nil {
		return Changed{}, fmt.Errorf("commit research %s: %w", locked.R.ID, err)
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

// lock takes the lock of a research and then runs the batch: its statements see what
// was committed by those who had the lock before.
func lock(ctx context.Context, p *pipeline, tenant, id string, then *pgx.Batch) (*Tx, error) {
	t := &Tx{tx: p, R: new(Research)}
	batch := queued(`SELECT `+researchColumns+`, clock_timestamp() FROM research
		WHERE id = $1 AND ($2 = '' OR tenant = $2) FOR NO KEY UPDATE`, id, tenant)
	batch.QueuedQueries[0].QueryRow(func(row pgx.Row) error {
		err := row.Scan(append(t.R.targets(), &t.Now)...)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNotFound
		}
		return err
	})
	batch.QueuedQueries = append(batch.QueuedQueries, then.QueuedQueries...)
	err := p.send(ctx, batch)
	if errors.Is(err, ErrNotFound) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("lock research %s: %w", id, err)
	}
	t.before = *t.R
	t.began = t.R.Used()
	return t, nil
}

// Flush writes R and the events so far, for statements of the same transaction that
// read them. It happens by itself before the commit.
func (t *Tx) Flush(ctx context.Context) error {
	batch := new(pgx.Batch)
	if !t.deleted {
		t.queueEvents(batch)
		t.queueResearch(batch)
	}
	t.events = nil
	t.before = *t.R
	err := t.tx.writeAll(ctx, batch)
	if err != nil {
		return fmt.Errorf("write research %s: %w", t.R.ID, err)
	}
	return nil
}

func (t *Tx) commit(ctx context.Context) error {
	err := t.Flush(ctx)
	if err != nil {
		return err
	}
	return t.tx.commit(ctx)
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
