package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// Listed is a research in a list.
type Listed struct {
	ID         string
	Status     workflow.Status
	Prompt     string
	Depth      int
	Breadth    int
	CreatedAt  time.Time
	FinishedAt *time.Time
}

// Page says which part of a list is wanted: at most Limit researches that were
// created before the one named, the newest first.
type Page struct {
	Status   string
	Before   *time.Time
	BeforeID string
	Limit    int
}

// List reads a page of a tenant's researches.
func (s *Store) List(ctx context.Context, tenant string, page Page) ([]Listed, error) {
	researches, err := collect(ctx, s.pool, func(row pgx.CollectableRow) (Listed, error) {
		var l Listed
		return l, row.Scan(&l.ID, &l.Status, &l.Prompt, &l.Depth, &l.Breadth, &l.CreatedAt, &l.FinishedAt)
	}, `SELECT id, status, prompt, depth, breadth, created_at, finished_at FROM research
		WHERE tenant = $1 AND ($2 = '' OR status = $2)
		AND ($3::timestamptz IS NULL OR (created_at, id) < ($3, nullif($4, '')::uuid))
		ORDER BY created_at DESC, id DESC LIMIT $5`, tenant, page.Status, page.Before, page.BeforeID, page.Limit)
	if err != nil {
		return nil, fmt.Errorf("list researches: %w", err)
	}
	return researches, nil
}

// Count is how many queries, websites, documents or extractions of a research are
// in one status, for one reason.
type Count struct {
	ResearchID string
	What       string // query, website, document or extraction
	Status     string
	Reason     string
	N          int
}

// Counts counts what the researches have.
func (s *Store) Counts(ctx context.Context, tenant string, researchIDs []string) ([]Count, error) {
	counts, err := collect(ctx, s.pool, pgx.RowToStructByPos[Count], `
		SELECT research_id::text, 'query', status, reason, count(*)::int FROM serp_query
			WHERE research_id = ANY($1::text[]::uuid[]) AND tenant = $2 GROUP BY 1, 3, 4
		UNION ALL SELECT research_id::text, 'website', status, reason, count(*)::int FROM website
			WHERE research_id = ANY($1::text[]::uuid[]) AND tenant = $2 GROUP BY 1, 3, 4
		UNION ALL SELECT research_id::text, 'document', '', '', count(*)::int FROM document
			WHERE research_id = ANY($1::text[]::uuid[]) AND tenant = $2 GROUP BY 1
		UNION ALL SELECT research_id::text, 'extraction', '', '', count(*)::int FROM extraction
			WHERE research_id = ANY($1::text[]::uuid[]) AND tenant = $2 GROUP BY 1`, researchIDs, tenant)
	if err != nil {
		return nil, fmt.Errorf("count what researches have: %w", err)
	}
	return counts, nil
}

// ExtractionsByID reads extractions of a research.
func (s *Store) ExtractionsByID(ctx context.Context, tenant, researchID string, ids []int64) (map[int64]Extraction, error) {
	extractions, err := collect(ctx, s.pool, func(row pgx.CollectableRow) (Extraction, error) {
		var e Extraction
		return e, row.Scan(e.targets()...)
	}, "SELECT "+extractionColumns+" FROM extraction WHERE id = ANY($1) AND research_id = $2 AND tenant = $3", ids, researchID, tenant)
	if err != nil {
		return nil, fmt.Errorf("read the evidence of research %s: %w", researchID, err)
	}
	byID := make(map[int64]Extraction, len(extractions))
	for _, e := range extractions {
		byID[e.ID] = e
	}
	return byID, nil
}
