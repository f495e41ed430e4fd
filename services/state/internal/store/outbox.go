package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// working are the statuses in which tasks are published and looked after.
const working = "('asking', 'running', 'reporting')"

// Claimed is a task that is to be published.
type Claimed struct {
	Task
	Traceparent string
}

// Claim leases at most limit due tasks of working researches, the longest due
// first. A task that is not marked as published before the lease ends is handed out
// again: publishing it twice is harmless, losing it is not.
func (s *Store) Claim(ctx context.Context, limit int, lease time.Duration) ([]Claimed, error) {
	var claimed []Claimed
	claim := queued(`WITH due AS (
			SELECT t.id, r.traceparent FROM task t JOIN research r ON r.id = t.research_id AND r.tenant = t.tenant
			WHERE t.state = 'due' AND t.due_at <= now() AND t.leased_until <= now() AND r.status IN `+working+`
			ORDER BY t.due_at, t.id LIMIT $1 FOR UPDATE OF t SKIP LOCKED)
		UPDATE task t SET leased_until = now() + $2 FROM due WHERE t.id = due.id
		RETURNING `+taskColumns+`, due.traceparent`, limit, lease)
	claim.QueuedQueries[0].Query(func(rows pgx.Rows) error {
		read, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Claimed, error) {
			var c Claimed
			return c, row.Scan(append(c.targets(), &c.Traceparent)...)
		})
		claimed = read
		return err
	})
	err := s.unflushed(ctx, claim)
	if err != nil {
		return nil, fmt.Errorf("claim due tasks: %w", err)
	}
	return claimed, nil
}

// MarkSent says of tasks that their messages are with the bus. Nothing is decided by
// it, so it needs no lock on their researches. A task that somebody is changing, or
// that changed since it was claimed, stays as it is.
func (s *Store) MarkSent(ctx context.Context, tasks []Task) error {
	ids, attempts, deliveries := standings(tasks)
	err := s.unflushed(ctx, queued(`WITH sent AS (
			SELECT t.id FROM unnest($1::text[]::uuid[], $2::int[], $3::int[]) AS claimed (id, attempt, delivery)
			JOIN task t ON t.id = claimed.id AND t.attempt = claimed.attempt AND t.delivery = claimed.delivery
			WHERE t.state = 'due' FOR NO KEY UPDATE OF t SKIP LOCKED)
		UPDATE task t SET state = 'published', published_at = now(), checked_at = NULL, leased_until = '-infinity'
		FROM sent WHERE t.id = sent.id`, ids, attempts, deliveries))
	if err != nil {
		return fmt.Errorf("mark tasks as published: %w", err)
	}
	return nil
}

// unflushed is a transaction that a crash of the database may undo although it was
// answered: for leases and marks, without which a task is only published again.
func (s *Store) unflushed(ctx context.Context, do *pgx.Batch) error {
	batch := queued("BEGIN")
	batch.Queue("SET LOCAL synchronous_commit = off")
	batch.QueuedQueries = append(batch.QueuedQueries, do.QueuedQueries...)
	batch.Queue("COMMIT")
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	// After an error the connection is still in the transaction and is not used again.
	defer conn.Release()
	return conn.SendBatch(ctx, batch).Close()
}

// NextDue is how long it takes until a task of a working research falls due, at
// most limit.
func (s *Store) NextDue(ctx context.Context, limit time.Duration) (time.Duration, error) {
	wait := limit
	err := s.pool.QueryRow(ctx, `SELECT coalesce(min(greatest(t.due_at, t.leased_until) - now()), $1)
		FROM task t JOIN research r ON r.id = t.research_id AND r.tenant = t.tenant
		WHERE t.state = 'due' AND t.due_at < now() + $1 AND r.status IN `+working, limit).Scan(&wait)
	if err != nil {
		return limit, fmt.Errorf("read when the next task is due: %w", err)
	}
	return min(max(wait, 0), limit), nil
}

// Suspects reads at most limit tasks that were published, and last seen in the bus,
// longer than quiet ago.
func (s *Store) Suspects(ctx context.Context, quiet time.Duration, limit int) ([]Task, error) {
	tasks, err := collect(ctx, s.pool, scanTask, "SELECT "+taskColumns+` FROM task t
		JOIN research r ON r.id = t.research_id AND r.tenant = t.tenant
		WHERE t.state = 'published' AND t.published_at < now() - $1::interval
		AND (t.checked_at IS NULL OR t.checked_at < now() - $1::interval) AND r.status IN `+working+`
		ORDER BY t.checked_at NULLS FIRST, t.published_at LIMIT $2`, quiet, limit)
	if err != nil {
		return nil, fmt.Errorf("read tasks that may be lost: %w", err)
	}
	return tasks, nil
}

// Seen notes that the bus holds the task. It changes nothing that a decision reads,
// so it needs no lock on the research.
func (s *Store) Seen(ctx context.Context, task Task) error {
	_, err := s.pool.Exec(ctx, "UPDATE task SET checked_at = now() WHERE id = $1 AND tenant = $2 AND state = 'published'",
		task.ID, task.Tenant)
	if err != nil {
		return fmt.Errorf("note that task %s was seen: %w", task.ID, err)
	}
	return nil
}

// Unburied reads at most limit tasks that are to be kept in DEAD.
func (s *Store) Unburied(ctx context.Context, limit int) ([]Task, error) {
	tasks, err := collect(ctx, s.pool, scanTask,
		"SELECT "+taskColumns+" FROM task t WHERE t.bury ORDER BY t.id LIMIT $1", limit)
	if err != nil {
		return nil, fmt.Errorf("read tasks to bury: %w", err)
	}
	return tasks, nil
}

// Buried notes that DEAD holds the task.
func (s *Store) Buried(ctx context.Context, task Task) error {
	_, err := s.pool.Exec(ctx, "UPDATE task SET bury = false WHERE id = $1 AND tenant = $2 AND bury", task.ID, task.Tenant)
	if err != nil {
		return fmt.Errorf("note that task %s is buried: %w", task.ID, err)
	}
	return nil
}

// Reference names a research.
type Reference struct {
	Tenant string
	ID     string
}

// Overdue reads at most limit researches whose deadline has passed. A research that
// writes its report has grace more.
func (s *Store) Overdue(ctx context.Context, grace time.Duration, limit int) ([]Reference, error) {
	late, err := collect(ctx, s.pool, pgx.RowToStructByPos[Reference], `SELECT tenant, id::text FROM research
		WHERE finished_at IS NULL AND (status IN ('asking', 'running') AND deadline < now()
			OR status = 'reporting' AND deadline < now() - $1::interval)
		ORDER BY deadline LIMIT $2`, grace, limit)
	if err != nil {
		return nil, fmt.Errorf("read overdue researches: %w", err)
	}
	return late, nil
}
