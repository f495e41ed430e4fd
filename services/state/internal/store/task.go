package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fathom-research/fathom/platform/bus"
)

// Task is a row of the outbox: references, no body.
type Task struct {
	ID         string
	Tenant     string
	ResearchID string
	Kind       bus.Kind
	QueryID    string
	DocumentID int64
	SiteID     int64
	State      TaskState
	Attempt    int
	Delivery   int
	Code       string
	Message    string
	// Reserved are the model tokens that it may use.
	Reserved int64
}

// TaskState is where a task stands.
type TaskState string

// The states of a task.
const (
	TaskDue       TaskState = "due"
	TaskPublished TaskState = "published"
	TaskDone      TaskState = "done"
	TaskFailed    TaskState = "failed"
	TaskDropped   TaskState = "dropped"
)

// Open reports whether a result may still settle the task.
func (t Task) Open() bool { return t.State == TaskDue || t.State == TaskPublished }

const taskColumns = `t.id, t.tenant, t.research_id, t.kind, coalesce(t.query_id::text, ''), coalesce(t.document_id, 0),
	coalesce(t.website_id, 0), t.state, t.attempt, t.delivery, t.code, t.message, t.reserved_tokens`

func scanTask(row pgx.CollectableRow) (Task, error) {
	var t Task
	return t, row.Scan(t.targets()...)
}

func (t *Task) targets() []any {
	return []any{
		&t.ID, &t.Tenant, &t.ResearchID, &t.Kind, &t.QueryID, &t.DocumentID,
		&t.SiteID, &t.State, &t.Attempt, &t.Delivery, &t.Code, &t.Message, &t.Reserved,
	}
}

// An empty tenant stands for whichever owns the task.
const selectTask = "SELECT " + taskColumns + " FROM task t WHERE id = $1 AND research_id = $2 AND ($3 = '' OR tenant = $3)"

// Task reads a task of the research.
func (t *Tx) Task(ctx context.Context, id string) (Task, error) {
	task, err := one(ctx, t.tx, scanTask, selectTask, id, t.R.ID, t.R.Tenant)
	if err != nil {
		return task, fmt.Errorf("read task %s: %w", id, err)
	}
	return task, nil
}

// AddTasks puts tasks into the outbox; only Kind, Reserved and the references are read.
func (t *Tx) AddTasks(ctx context.Context, tasks ...Task) error {
	if len(tasks) == 0 {
		return nil
	}
	batch := new(pgx.Batch)
	for _, task := range tasks {
		batch.Queue(`INSERT INTO task (id, tenant, research_id, kind, query_id, document_id, website_id, reserved_tokens)
			VALUES ($1, $2, $3, $4, nullif($5, '')::uuid, nullif($6, 0::bigint), nullif($7, 0::bigint), $8)`,
			NewID(), t.R.Tenant, t.R.ID, string(task.Kind), task.QueryID, task.DocumentID, task.SiteID, task.Reserved)
	}
	err := t.tx.writeAll(ctx, batch)
	if err != nil {
		return fmt.Errorf("insert tasks of research %s: %w", t.R.ID, err)
	}
	t.changed.Tasks = true
	return nil
}

// DispatchAnalyses inserts analyses of a query's scraped websites, in order of
// arrival, until as many are open as the research allows at once, but at most most
// of them. Each may use reserved tokens; it returns how many tokens that is.
func (t *Tx) DispatchAnalyses(ctx context.Context, queryID string, most int, reserved int64) (int64, error) {
	inserted := int64(0)
	count := func(done pgconn.CommandTag) {
		inserted = done.RowsAffected()
		t.changed.Tasks = t.changed.Tasks || inserted > 0
	}
	err := t.tx.writeThen(ctx, count, `INSERT INTO task (id, tenant, research_id, kind, query_id, website_id, reserved_tokens)
		SELECT gen_random_uuid(), w.tenant, w.research_id, 'analyze', w.query_id, w.id, $4 FROM website w
		WHERE w.query_id = $1 AND w.tenant = $2 AND w.status = 'scraped'
		AND NOT EXISTS (SELECT FROM task t WHERE t.website_id = w.id)
		ORDER BY w.arrived LIMIT least($5::bigint, greatest(0, $3 - (SELECT count(*) FROM task t
			WHERE t.query_id = $1 AND t.kind = 'analyze' AND t.state IN ('due', 'published'))))`,
		queryID, t.R.Tenant, t.R.AnalysisConcurrency, reserved, most)
	if err == nil && reserved > 0 {
		// Only who reserves tokens has to wait for the number.
		err = t.tx.flush(ctx)
	}
	if err != nil {
		return 0, fmt.Errorf("choose the next analysis of query %s: %w", queryID, err)
	}
	return inserted * reserved, nil
}

// CloseTask ends a task. bury asks the sweeper to keep it in DEAD.
func (t *Tx) CloseTask(ctx context.Context, task Task, state TaskState, code, message string, bury bool) error {
	err := t.tx.write(ctx, `UPDATE task SET state = $4, code = $5, message = $6, bury = $7, closed_at = now()
		WHERE id = $1 AND research_id = $2 AND tenant = $3 AND state IN ('due', 'published')`,
		task.ID, t.R.ID, t.R.Tenant, state, code, message, bury)
	if err != nil {
		return fmt.Errorf("close task %s: %w", task.ID, err)
	}
	return nil
}

// Reschedule makes a task due after wait, with the attempt, delivery, code and
// message of task. It opens a closed task again.
func (t *Tx) Reschedule(ctx context.Context, task Task, wait time.Duration) error {
	err := t.tx.write(ctx, `UPDATE task SET state = 'due', attempt = $4, delivery = $5, code = $6, message = $7,
		due_at = now() + $8, leased_until = '-infinity', checked_at = NULL, bury = false, closed_at = NULL
		WHERE id = $1 AND research_id = $2 AND tenant = $3`,
		task.ID, t.R.ID, t.R.Tenant, task.Attempt, task.Delivery, task.Code, task.Message, wait)
	if err != nil {
		return fmt.Errorf("reschedule task %s: %w", task.ID, err)
	}
	t.changed.Tasks = true
	return nil
}

// MarkPublished says of tasks that their messages are with the bus, and returns the
// documents whose scrape is among them. Tasks that changed since they were claimed
// stay as they are.
func (t *Tx) MarkPublished(ctx context.Context, tasks []Task) ([]int64, error) {
	ids, attempts, deliveries := standings(tasks)
	documents, err := collect(ctx, t.tx, pgx.RowTo[int64], `WITH marked AS (
		UPDATE task t SET state = 'published', published_at = now(), checked_at = NULL, leased_until = '-infinity'
		FROM unnest($3::text[]::uuid[], $4::int[], $5::int[]) AS sent (id, attempt, delivery)
		WHERE t.id = sent.id AND t.research_id = $1 AND t.tenant = $2 AND t.state = 'due'
		AND t.attempt = sent.attempt AND t.delivery = sent.delivery RETURNING t.document_id)
		SELECT document_id FROM marked WHERE document_id IS NOT NULL`, t.R.ID, t.R.Tenant, ids, attempts, deliveries)
	if err != nil {
		return nil, fmt.Errorf("mark tasks of research %s as published: %w", t.R.ID, err)
	}
	return documents, nil
}

// standings are the ids of tasks, with the attempt and delivery of each.
func standings(tasks []Task) ([]string, []int, []int) {
	ids, attempts, deliveries := make([]string, len(tasks)), make([]int, len(tasks)), make([]int, len(tasks))
	for i, task := range tasks {
		ids[i], attempts[i], deliveries[i] = task.ID, task.Attempt, task.Delivery
	}
	return ids, attempts, deliveries
}
