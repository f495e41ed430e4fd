package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// readOriginals finds the quotes from copies on the pages that they are copies of:
// there they are cited, so that one source is not taken for two. What stands on the
// copy alone is not among them.
func (r *Record) readOriginals(ctx context.Context, q querier, tenant, id string) error {
	r.Originals = make(map[int64]Finding)
	found, err := collect(ctx, q, func(row pgx.CollectableRow) (Finding, error) {
		var f Finding
		return f, row.Scan(append([]any{&f.URL, &f.Title, &f.Published}, f.targets()...)...)
	}, `SELECT o.url, o.title, o.published, e.id, e.claim, e.quote,
			at.start, at.start + octet_length(e.quote), e.heading_path, e.page, e.relevance
		FROM document d JOIN document o ON o.id = d.copy_of
		JOIN website w ON w.document_id = d.id JOIN extraction e ON e.website_id = w.id
		CROSS JOIN LATERAL (SELECT strpos(o.content, e.quote) AS place) p
		CROSS JOIN LATERAL (SELECT octet_length(left(o.content, p.place - 1)) AS start) at
		WHERE d.research_id = $1 AND d.tenant = $2 AND d.copy_of IS NOT NULL AND e.quote <> '' AND p.place > 0`, id, tenant)
	if err != nil {
		return fmt.Errorf("read the originals of research %s: %w", id, err)
	}
	for _, f := range found {
		r.Originals[f.ID] = f
	}
	return nil
}
