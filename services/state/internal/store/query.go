package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// Query is a query as decisions see it.
type Query struct {
	ID       string
	Depth    int
	Breadth  int
	URLsOpen int
	Status   workflow.QueryStatus
}

const queryColumns = "id, depth, breadth, urls_open, status"

func scanQuery(row pgx.CollectableRow) (Query, error) {
	var q Query
	return q, row.Scan(&q.ID, &q.Depth, &q.Breadth, &q.URLsOpen, &q.Status)
}

// Query reads a query.
func (t *Tx) Query(ctx context.Context, id string) (Query, error) {
	q, err := one(ctx, t.tx, scanQuery,
		"SELECT "+queryColumns+" FROM serp_query WHERE id = $1 AND research_id = $2 AND tenant = $3", id, t.R.ID, t.R.Tenant)
	if err != nil {
		return q, fmt.Errorf("read query %s: %w", id, err)
	}
	return q, nil
}

// AnyQuery reports whether the research has a query of one of the texts, whatever their
// case and spacing.
func (t *Tx) AnyQuery(ctx context.Context, texts []string) (bool, error) {
	found, err := one(ctx, t.tx, pgx.RowTo[bool], `SELECT EXISTS (SELECT FROM serp_query q WHERE q.research_id = $1 AND q.tenant = $2
		AND lower(regexp_replace(btrim(q.text), '\s+', ' ', 'g')) IN
			(SELECT lower(regexp_replace(btrim(text), '\s+', ' ', 'g')) FROM unnest($3::text[]) AS text))`, t.R.ID, t.R.Tenant, texts)
	if err != nil {
		return false, fmt.Errorf("look for doubles of planned queries: %w", err)
	}
	return found, nil
}

// NewQuery is a planned query.
type NewQuery struct {
	ID        string
	Text      string
	Objective string
}

// InsertQueries stores the queries that one plan brought, in its order. parent is
// empty for the root plan; breadth is how many the level was to have.
func (t *Tx) InsertQueries(ctx context.Context, parent string, depth, breadth int, queries []NewQuery) error {
	batch := new(pgx.Batch)
	for ordinal, q := range queries {
		batch.Queue(`INSERT INTO serp_query (id, tenant, research_id, parent_query_id, ordinal, depth, breadth, text, objective)
			VALUES ($1, $2, $3, nullif($4, '')::uuid, $5, $6, $7, $8, $9)`,
			q.ID, t.R.Tenant, t.R.ID, parent, ordinal, depth, breadth, q.Text, q.Objective)
	}
	err := t.tx.writeAll(ctx, batch)
	if err != nil {
		return fmt.Errorf("insert the queries of research %s: %w", t.R.ID, err)
	}
	return nil
}

// OpenURLs sets the number of a query's websites, all of them open.
func (t *Tx) OpenURLs(ctx context.Context, queryID string, hits int) error {
	err := t.tx.write(ctx, `UPDATE serp_query SET hits = $4, urls_open = $4
		WHERE id = $1 AND research_id = $2 AND tenant = $3`, queryID, t.R.ID, t.R.Tenant, hits)
	if err != nil {
		return fmt.Errorf("open the websites of query %s: %w", queryID, err)
	}
	return nil
}

// FinishQuery gives a query its end.
func (t *Tx) FinishQuery(ctx context.Context, id string, status workflow.QueryStatus, reason, message string) error {
	err := t.tx.write(ctx, `UPDATE serp_query SET status = $4, reason = $5, error_message = $6, finished_at = now()
		WHERE id = $1 AND research_id = $2 AND tenant = $3 AND status = 'processing'`,
		id, t.R.ID, t.R.Tenant, status, reason, message)
	if err != nil {
		return fmt.Errorf("finish query %s: %w", id, err)
	}
	return nil
}

// MarkExpanded closes a query: its children exist, or it has none.
func (t *Tx) MarkExpanded(ctx context.Context, id string) error {
	err := t.tx.write(ctx, "UPDATE serp_query SET expanded = true WHERE id = $1 AND research_id = $2 AND tenant = $3",
		id, t.R.ID, t.R.Tenant)
	if err != nil {
		return fmt.Errorf("close query %s: %w", id, err)
	}
	return nil
}

// ReopenExpansion undoes MarkExpanded for a query that has no children, and reports
// whether it did.
func (t *Tx) ReopenExpansion(ctx context.Context, id string) (bool, error) {
	tag, err := t.tx.Exec(ctx, `UPDATE serp_query q SET expanded = false
		WHERE id = $1 AND research_id = $2 AND tenant = $3 AND expanded
		AND NOT EXISTS (SELECT FROM serp_query c WHERE c.parent_query_id = q.id)`, id, t.R.ID, t.R.Tenant)
	if err != nil {
		return false, fmt.Errorf("reopen query %s: %w", id, err)
	}
	return tag.RowsAffected() == 1, nil
}

// QueryOutcome is the reason that a query without open websites ends with: ok when
// a page was analyzed, empty without any page, else what most of its pages met.
func (t *Tx) QueryOutcome(ctx context.Context, id string) (string, error) {
	var reason string
	err := t.tx.QueryRow(ctx, `SELECT coalesce((
		SELECT CASE status WHEN 'analyzed' THEN 'ok' ELSE reason END AS outcome FROM website
		WHERE query_id = $1 AND tenant = $2
		GROUP BY status, outcome ORDER BY status = 'analyzed' DESC, count(*) DESC, outcome LIMIT 1), 'empty')`,
		id, t.R.Tenant).Scan(&reason)
	if err != nil {
		return "", fmt.Errorf("read the outcome of query %s: %w", id, err)
	}
	return reason, nil
}

// Progress counts what Decide looks at when a research comes to its end.
type Progress struct {
	Queries          int
	QueriesCompleted int
	Extractions      int
	// Reason is what most of its failed queries met.
	Reason string
}

// Progress counts the research's queries and extractions.
func (t *Tx) Progress(ctx context.Context) (Progress, error) {
	var p Progress
	err := t.tx.QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE status = 'completed'),
		(SELECT count(*) FROM extraction WHERE research_id = $1 AND tenant = $2),
		coalesce(mode() WITHIN GROUP (ORDER BY reason) FILTER (WHERE status = 'failed'), '')
		FROM serp_query WHERE research_id = $1 AND tenant = $2`, t.R.ID, t.R.Tenant).
		Scan(&p.Queries, &p.QueriesCompleted, &p.Extractions, &p.Reason)
	if err != nil {
		return p, fmt.Errorf("count the queries of research %s: %w", t.R.ID, err)
	}
	return p, nil
}

// CloseWork ends everything that is open: websites and queries fail with reason, all
// tasks are dropped, and no query is open any more.
func (t *Tx) CloseWork(ctx context.Context, reason, message string) error {
	sites, err := collect(ctx, t.tx, func(row pgx.CollectableRow) (Event, error) {
		e := Event{Type: "website.failed", Reason: reason, Message: message}
		return e, row.Scan(&e.QueryID, &e.URL)
	}, `UPDATE website w SET status = 'failed', reason = $3, error_message = $4, settled_at = now()
		FROM document d WHERE d.id = w.document_id AND w.research_id = $1 AND w.tenant = $2
		AND w.status NOT IN ('analyzed', 'failed') RETURNING w.query_id::text, d.url`, t.R.ID, t.R.Tenant, reason, message)
	if err != nil {
		return fmt.Errorf("close the websites of research %s: %w", t.R.ID, err)
	}
	copies, err := collect(ctx, t.tx, func(row pgx.CollectableRow) (Event, error) {
		e := Event{Type: "website.failed", Reason: reason, Message: message}
		return e, row.Scan(&e.QueryID, &e.URL)
	}, `UPDATE website w SET status = 'failed', reason = $3, error_message = $4
		FROM document d, website first WHERE d.id = w.document_id AND first.id = w.copy_of AND first.status = 'failed'
		AND w.research_id = $1 AND w.tenant = $2 AND w.status = 'analyzed' RETURNING w.query_id::text, d.url`,
		t.R.ID, t.R.Tenant, reason, message)
	if err != nil {
		return fmt.Errorf("close the copies of research %s: %w", t.R.ID, err)
	}
	queries, err := collect(ctx, t.tx, func(row pgx.CollectableRow) (Event, error) {
		e := Event{Type: "query.failed", Reason: reason, Message: message}
		return e, row.Scan(&e.QueryID)
	}, `UPDATE serp_query SET status = 'failed', reason = $3, error_message = $4, urls_open = 0, finished_at = now()
		WHERE research_id = $1 AND tenant = $2 AND status = 'processing' RETURNING id::text`, t.R.ID, t.R.Tenant, reason, message)
	if err != nil {
		return fmt.Errorf("close the queries of research %s: %w", t.R.ID, err)
	}
	for _, e := range slices.Concat(sites, copies, queries) {
		t.Tell(e)
	}
	batch := new(pgx.Batch)
	batch.Queue("UPDATE serp_query SET expanded = true WHERE research_id = $1 AND tenant = $2 AND NOT expanded", t.R.ID, t.R.Tenant)
	batch.Queue(`UPDATE document SET status = 'failed', reason = $3, error_message = $4, settled_at = now()
		WHERE research_id = $1 AND tenant = $2 AND status IN ('pending', 'scraping')`, t.R.ID, t.R.Tenant, reason, message)
	batch.Queue(`UPDATE task SET state = 'dropped', closed_at = now(), code = $3
		WHERE research_id = $1 AND tenant = $2 AND state IN ('due', 'published')`, t.R.ID, t.R.Tenant, reason)
	err = t.tx.writeAll(ctx, batch)
	if err != nil {
		return fmt.Errorf("close the work of research %s: %w", t.R.ID, err)
	}
	t.R.OpenQueries, t.R.Reserved = 0, 0
	return nil
}
