package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// SearchMaterial is what a search task is made of.
type SearchMaterial struct {
	Text       string
	Language   string
	TimeRange  string
	Categories []string
	SafeSearch int
}

// SearchMaterial reads what a query's search needs.
func (s *Store) SearchMaterial(ctx context.Context, tenant, queryID string) (SearchMaterial, error) {
	m, err := one(ctx, s.pool, pgx.RowToStructByPos[SearchMaterial], `SELECT q.text, r.language, r.time_range, r.categories, r.safe_search
		FROM serp_query q JOIN research r ON r.id = q.research_id WHERE q.id = $1 AND q.tenant = $2`, queryID, tenant)
	if err != nil {
		return m, fmt.Errorf("read query %s: %w", queryID, err)
	}
	return m, nil
}

// DocumentURL reads the URL that a document is fetched at.
func (s *Store) DocumentURL(ctx context.Context, tenant string, documentID int64) (string, error) {
	url, err := one(ctx, s.pool, pgx.RowTo[string], "SELECT url FROM document WHERE id = $1 AND tenant = $2", documentID, tenant)
	if err != nil {
		return "", fmt.Errorf("read document %d: %w", documentID, err)
	}
	return url, nil
}

// AnalyzeMaterial is what an analysis is made of.
type AnalyzeMaterial struct {
	Prompt    string
	Query     string
	Objective string
	URL       string
	Title     string
	Published *time.Time
	Content   string
	Language  string
	// Page is what else is known of the page, as JSON.
	Page []byte
}

// AnalyzeMaterial reads what a website's analysis needs.
func (s *Store) AnalyzeMaterial(ctx context.Context, tenant string, siteID int64) (AnalyzeMaterial, error) {
	m, err := one(ctx, s.pool, pgx.RowToStructByPos[AnalyzeMaterial], `SELECT r.prompt, q.text, q.objective, d.url,
		coalesce(nullif(d.title, ''), w.title), coalesce(d.published, w.published), d.content, d.language, d.page
		FROM website w JOIN document d ON d.id = w.document_id
		JOIN serp_query q ON q.id = w.query_id JOIN research r ON r.id = w.research_id
		WHERE w.id = $1 AND w.tenant = $2 AND d.content IS NOT NULL`, siteID, tenant)
	if err != nil {
		return m, fmt.Errorf("read the page of website %d: %w", siteID, err)
	}
	return m, nil
}

// Link is one query of a parent chain.
type Link struct {
	ID        string
	Text      string
	Objective string
	Breadth   int
	Findings  []Finding
}

// Finding is an extraction with the page that it is from.
type Finding struct {
	Extraction
	URL       string
	Title     string
	Published *time.Time
}

// Chain reads a query with its ancestors, the one at depth 1 first, and what was
// found by each.
func (s *Store) Chain(ctx context.Context, tenant, queryID string) ([]Link, error) {
	links, err := collect(ctx, s.pool, func(row pgx.CollectableRow) (Link, error) {
		var l Link
		return l, row.Scan(&l.ID, &l.Text, &l.Objective, &l.Breadth)
	}, `WITH RECURSIVE chain AS (
			SELECT id, parent_query_id, text, objective, breadth, depth FROM serp_query WHERE id = $1 AND tenant = $2
			UNION ALL
			SELECT q.id, q.parent_query_id, q.text, q.objective, q.breadth, q.depth
			FROM serp_query q JOIN chain c ON q.id = c.parent_query_id)
		SELECT id, text, objective, breadth FROM chain ORDER BY depth`, queryID, tenant)
	if err != nil {
		return nil, fmt.Errorf("read the chain of query %s: %w", queryID, err)
	}
	if len(links) == 0 {
		return nil, fmt.Errorf("read the chain of query %s: %w", queryID, ErrNotFound)
	}
	position := make(map[string]int, len(links))
	ids := make([]string, len(links))
	for i, l := range links {
		position[l.ID], ids[i] = i, l.ID
	}
	type located struct {
		Finding
		query string
	}
	findings, err := collect(ctx, s.pool, func(row pgx.CollectableRow) (located, error) {
		var f located
		return f, row.Scan(append([]any{&f.query, &f.URL, &f.Title, &f.Published}, f.targets()...)...)
	}, `SELECT e.query_id::text, d.url, coalesce(nullif(d.title, ''), w.title), coalesce(d.published, w.published),
		e.id, e.claim, e.quote, e.start_offset, e.end_offset, e.heading_path, e.page, e.relevance
		FROM extraction e JOIN website w ON w.id = e.website_id JOIN document d ON d.id = w.document_id
		WHERE e.query_id = ANY($1::text[]::uuid[]) AND e.tenant = $2 ORDER BY w.rank, e.ordinal`, ids, tenant)
	if err != nil {
		return nil, fmt.Errorf("read the findings of the chain of query %s: %w", queryID, err)
	}
	for _, f := range findings {
		link := &links[position[f.query]]
		link.Findings = append(link.Findings, f.Finding)
	}
	return links, nil
}

// QueryTexts reads the texts of all queries of a research.
func (s *Store) QueryTexts(ctx context.Context, tenant, researchID string) ([]string, error) {
	texts, err := collect(ctx, s.pool, pgx.RowTo[string],
		"SELECT text FROM serp_query WHERE research_id = $1 AND tenant = $2 ORDER BY depth, created_at, ordinal", researchID, tenant)
	if err != nil {
		return nil, fmt.Errorf("read the queries of research %s: %w", researchID, err)
	}
	return texts, nil
}
