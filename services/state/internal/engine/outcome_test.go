package engine_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// expected is what a query comes to in the world of answer.
type expected struct {
	parent string
	depth  int
	status workflow.QueryStatus
	sites  map[string]workflow.SiteStatus
}

// expect computes the one right outcome of a tree, without the code under test.
func expect(depth, breadth int) map[string]expected {
	tree := make(map[string]expected)
	grow(tree, "q", 1, depth, breadth)
	return tree
}

func grow(tree map[string]expected, parent string, level, depth, n int) {
	if planFails(parent) {
		return
	}
	for _, text := range texts(parent, int32(n)) {
		query := expected{parent: parent, depth: level, status: workflow.QueryCompleted, sites: make(map[string]workflow.SiteStatus)}
		if searchFails(text) {
			query.status = workflow.QueryFailed
		} else {
			for _, url := range hits(text) {
				query.sites[url] = workflow.SiteAnalyzed
				if pageFails(url) || analysisFails(content(url)) {
					query.sites[url] = workflow.SiteFailed
				}
			}
		}
		tree[text] = query
		if level < depth {
			grow(tree, text, level+1, depth, (n+1)/2)
		}
	}
}

// requireOutcome compares a finished research with the one right outcome, and the
// database with its invariants.
func requireOutcome(t testing.TB, w *world, id string, depth, breadth int) {
	t.Helper()
	record := w.record(t, id)
	want := expect(depth, breadth)
	names := map[string]string{"": "q"}
	for _, q := range record.Queries {
		names[q.ID] = q.Text
	}
	sites := make(map[string]map[string]workflow.SiteStatus)
	for _, s := range record.Sites {
		query := names[s.QueryID]
		if sites[query] == nil {
			sites[query] = make(map[string]workflow.SiteStatus)
		}
		sites[query][s.URL] = s.Status
	}
	require.Len(t, record.Queries, len(want))
	for _, q := range record.Queries {
		e, ok := want[q.Text]
		require.True(t, ok, "query %s is not of this tree", q.Text)
		require.Equal(t, e.parent, names[q.ParentID], "parent of %s", q.Text)
		require.Equal(t, e.depth, q.Depth, "depth of %s", q.Text)
		require.Equal(t, e.status, q.Status, "status of %s", q.Text)
		require.Len(t, sites[q.Text], len(e.sites), "websites of %s", q.Text)
		for url, status := range e.sites {
			require.Equal(t, status, sites[q.Text][url], "%s of %s", url, q.Text)
		}
	}
	requireInvariants(t, w, id)
}

// invariants each count rows that must not be.
var invariants = map[string]string{
	"open websites of an ended research": `SELECT count(*) FROM website WHERE research_id = $1 AND status NOT IN ('analyzed', 'failed')`,
	"counters that are off": `SELECT count(*) FROM serp_query q WHERE research_id = $1 AND urls_open <>
		(SELECT count(*) FROM website w WHERE w.query_id = q.id AND w.status NOT IN ('analyzed', 'failed'))`,
	"open queries":                `SELECT count(*) FROM serp_query WHERE research_id = $1 AND (status = 'processing' OR NOT expanded)`,
	"open tasks":                  `SELECT count(*) FROM task WHERE research_id = $1 AND state IN ('due', 'published')`,
	"counted open queries":        `SELECT open_queries FROM research WHERE id = $1`,
	"reports missing or doubled":  `SELECT abs(1 - count(*)) FROM task WHERE research_id = $1 AND kind = 'report'`,
	"gaps in the events":          `SELECT count(*) - max(sequence) FROM event WHERE research_id = $1`,
	"events without their number": `SELECT max(sequence) - (SELECT event_sequence FROM research WHERE id = $1) FROM event WHERE research_id = $1`,
	"analyses of nothing": `SELECT count(*) FROM website w WHERE research_id = $1 AND status = 'analyzed' AND copy_of IS NULL
		AND NOT EXISTS (SELECT FROM task t WHERE t.website_id = w.id AND t.state = 'done')`,
	"copies without an original": `SELECT count(*) FROM website w WHERE research_id = $1 AND copy_of IS NOT NULL
		AND NOT EXISTS (SELECT FROM website f WHERE f.id = w.copy_of AND f.query_id = w.query_id AND f.status = w.status)`,
	"copies of copies": `SELECT count(*) FROM document d JOIN document o ON o.id = d.copy_of
		WHERE d.research_id = $1 AND (o.copy_of IS NOT NULL OR o.research_id <> d.research_id OR o.status <> 'scraped')`,
	"pages of a query analyzed twice": `SELECT count(*) FROM (SELECT FROM website w JOIN document d ON d.id = w.document_id
		WHERE w.research_id = $1 AND w.status = 'analyzed' AND w.copy_of IS NULL
		GROUP BY w.query_id, coalesce(d.copy_of, d.id) HAVING count(*) > 1) doubled`,
	"queries told more than once": `SELECT count(*) FROM (SELECT FROM event WHERE research_id = $1
		AND type IN ('query.completed', 'query.failed') GROUP BY query_id HAVING count(*) > 1) doubled`,
}

func requireInvariants(t testing.TB, w *world, id string) {
	t.Helper()
	for name, sql := range invariants {
		require.Zero(t, w.count(t, sql, id), name)
	}
}

// count asks the database past the store.
func (w *world) count(t testing.TB, sql string, args ...any) int {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, w.url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(ctx) }()
	var n int
	require.NoError(t, conn.QueryRow(ctx, sql, args...).Scan(&n))
	return n
}
