package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// mostPending bounds what a pipeline keeps back.
const mostPending = 256

// pipeline is a transaction that keeps writes back until something is read, and
// then sends all of it at once: most of a small transaction's time is round trips.
// Its begin goes with the first read and its commit with the last writes. Statements
// are executed in the order in which they were given. An error of a write that was
// kept back surfaces at the next statement, at the latest at the commit.
type pipeline struct {
	conn    *pgx.Conn
	pending []*pgx.QueuedQuery
}

func begin(conn *pgx.Conn) *pipeline {
	return &pipeline{conn: conn, pending: []*pgx.QueuedQuery{{SQL: "BEGIN"}}}
}

// commit sends what was kept back and ends the transaction.
func (p *pipeline) commit(ctx context.Context) error {
	batch := new(pgx.Batch)
	batch.Queue("COMMIT").Exec(func(done pgconn.CommandTag) error {
		if done.String() != "COMMIT" {
			return pgx.ErrTxCommitRollback
		}
		return nil
	})
	return p.send(ctx, batch)
}

// rollback ends a transaction that was not committed. A connection on which that
// fails is not used again.
func (p *pipeline) rollback(ctx context.Context) {
	p.pending = nil
	if p.conn.IsClosed() || p.conn.PgConn().TxStatus() == idle {
		return
	}
	_, err := p.conn.Exec(ctx, "ROLLBACK")
	if err != nil {
		_ = p.conn.Close(ctx)
	}
}

// idle is the status of a connection without a transaction.
const idle = 'I'

// write keeps a statement back whose result nobody waits for.
func (p *pipeline) write(ctx context.Context, sql string, args ...any) error {
	return p.writeAll(ctx, queued(sql, args...))
}

// writeThen keeps a statement back and calls then with what it did, once it did it.
func (p *pipeline) writeThen(ctx context.Context, then func(done pgconn.CommandTag), sql string, args ...any) error {
	batch := new(pgx.Batch)
	batch.Queue(sql, args...).Exec(func(done pgconn.CommandTag) error {
		then(done)
		return nil
	})
	return p.writeAll(ctx, batch)
}

func queued(sql string, args ...any) *pgx.Batch {
	batch := new(pgx.Batch)
	batch.Queue(sql, args...)
	return batch
}

// writeAll keeps statements back whose results nobody waits for.
func (p *pipeline) writeAll(ctx context.Context, batch *pgx.Batch) error {
	p.pending = append(p.pending, batch.QueuedQueries...)
	if len(p.pending) < mostPending {
		return nil
	}
	return p.flush(ctx)
}

// flush sends what was kept back.
func (p *pipeline) flush(ctx context.Context) error {
	return p.send(ctx, new(pgx.Batch))
}

// send sends what was kept back and then the batch, and runs its callbacks.
func (p *pipeline) send(ctx context.Context, batch *pgx.Batch) error {
	all := p.with(batch)
	if all.Len() == 0 {
		return nil
	}
	return p.conn.SendBatch(ctx, all).Close()
}

// with takes what was kept back and puts it before the batch.
func (p *pipeline) with(batch *pgx.Batch) *pgx.Batch {
	all := &pgx.Batch{QueuedQueries: append(p.pending, batch.QueuedQueries...)}
	p.pending = nil
	return all
}

// Exec executes a statement whose result is waited for.
func (p *pipeline) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	var tag pgconn.CommandTag
	batch := new(pgx.Batch)
	batch.Queue(sql, args...).Exec(func(done pgconn.CommandTag) error {
		tag = done
		return nil
	})
	err := p.send(ctx, batch)
	return tag, err
}

// Query implements querier.
func (p *pipeline) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if len(p.pending) == 0 {
		return p.conn.Query(ctx, sql, args...)
	}
	kept := p.pending
	results := p.conn.SendBatch(ctx, p.with(queued(sql, args...)))
	for _, write := range kept {
		err := await(results, write)
		if err != nil {
			_ = results.Close()
			return nil, fmt.Errorf("write before a read: %w", err)
		}
	}
	rows, err := results.Query()
	if err != nil {
		_ = results.Close()
		return nil, err
	}
	return &pipelinedRows{Rows: rows, results: results}, nil
}

// await reads what a write came to.
func await(results pgx.BatchResults, write *pgx.QueuedQuery) error {
	if write.Fn != nil {
		return write.Fn(results)
	}
	_, err := results.Exec()
	return err
}

// QueryRow implements querier.
func (p *pipeline) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	rows, err := p.Query(ctx, sql, args...)
	return &pipelinedRow{rows: rows, err: err}
}

// pipelinedRows end the batch that they are the last result of.
type pipelinedRows struct {
	pgx.Rows

	results pgx.BatchResults
	err     error
}

func (r *pipelinedRows) Next() bool {
	more := r.Rows.Next()
	if !more {
		r.Close()
	}
	return more
}

func (r *pipelinedRows) Close() {
	r.Rows.Close()
	err := r.results.Close()
	if r.err == nil {
		r.err = err
	}
}

func (r *pipelinedRows) Err() error {
	err := r.Rows.Err()
	if err != nil {
		return err
	}
	return r.err
}

type pipelinedRow struct {
	rows pgx.Rows
	err  error
}

func (r *pipelinedRow) Scan(targets ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		err := r.rows.Err()
		if err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	err := r.rows.Scan(targets...)
	if err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}
