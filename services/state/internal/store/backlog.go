package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// Backlog is what is to be done, over all tenants.
type Backlog struct {
	// Lag is how long the oldest task is due that is not published. Tasks of
	// researches that are not worked on, paused ones above all, are not due.
	Lag        time.Duration
	Researches map[workflow.Status]int
	Tasks      map[TaskGroup]int
}

// TaskGroup are the open tasks of one kind that are in one state.
type TaskGroup struct {
	Kind  bus.Kind
	State TaskState
}

// Backlog counts at most limit open researches and tasks each, so that its cost is
// bounded however much there is to do.
func (s *Store) Backlog(ctx context.Context, limit int) (Backlog, error) {
	b := Backlog{Researches: make(map[workflow.Status]int), Tasks: make(map[TaskGroup]int)}
	batch := new(pgx.Batch)
	batch.Queue(`SELECT coalesce((SELECT now() - t.due_at FROM task t JOIN research r ON r.id = t.research_id AND r.tenant = t.tenant
		WHERE t.state = 'due' AND t.due_at <= now() AND r.status IN ` + working + ` ORDER BY t.due_at LIMIT 1), '0')`).
		QueryRow(func(row pgx.Row) error { return row.Scan(&b.Lag) })
	batch.Queue(`SELECT status, count(*) FROM (SELECT status FROM research WHERE finished_at IS NULL LIMIT $1) AS counted
		GROUP BY status`, limit).
		Query(func(rows pgx.Rows) error {
			var status workflow.Status
			var n int
			_, err := pgx.ForEachRow(rows, []any{&status, &n}, func() error {
				b.Researches[status] = n
				return nil
			})
			return err
		})
	batch.Queue(`SELECT kind, state, count(*) FROM (SELECT kind, state FROM task WHERE state IN ('due', 'published') LIMIT $1) AS counted
		GROUP BY kind, state`, limit).
		Query(func(rows pgx.Rows) error {
			var group TaskGroup
			var n int
			_, err := pgx.ForEachRow(rows, []any{&group.Kind, &group.State, &n}, func() error {
				b.Tasks[group] = n
				return nil
			})
			return err
		})
	err := s.pool.SendBatch(ctx, batch).Close()
	if err != nil {
		return b, fmt.Errorf("count what is to be done: %w", err)
	}
	return b, nil
}
