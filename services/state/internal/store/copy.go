package store

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Fingerprint is what a page is recognised by.
type Fingerprint struct {
	ContentHash string
	// Identity is the address that the page goes by, empty when it is not known.
	Identity string
	// Similarity is a SimHash of the text, 0 when it is not known.
	Similarity uint64
}

// Alike is a page of the research that another one may be a copy of.
type Alike struct {
	DocumentID   int64
	SameContent  bool
	SameIdentity bool
	// Distance is the number of bits in which the SimHashes differ; 64 when one is
	// not known.
	Distance int
}

// Recognise stores a page's fingerprint and reads the pages of the research that are
// no copies themselves and have the same content, the same identity, or a SimHash
// that differs by at most near bits: a few, the likeliest first.
func (t *Tx) Recognise(ctx context.Context, documentID int64, f Fingerprint, near int) ([]Alike, error) {
	var identity []byte
	if f.Identity != "" {
		digest := sha256.Sum256([]byte(f.Identity))
		identity = digest[:]
	}
	err := t.tx.write(ctx, `UPDATE document SET similarity = $4, identity_digest = $5
		WHERE id = $1 AND research_id = $2 AND tenant = $3`, documentID, t.R.ID, t.R.Tenant, int64(f.Similarity), identity)
	if err != nil {
		return nil, fmt.Errorf("save the fingerprint of document %d: %w", documentID, err)
	}
	alike, err := collect(ctx, t.tx, pgx.RowToStructByPos[Alike], `SELECT id, same_content, same_identity, distance FROM (
			SELECT id, content_hash = $4 AS same_content, coalesce(identity_digest = $5, false) AS same_identity,
				CASE WHEN similarity = 0 OR $6::bigint = 0 THEN 64 ELSE bit_count((similarity # $6::bigint)::bit(64)) END::int AS distance
			FROM document WHERE research_id = $2 AND tenant = $3 AND status = 'scraped' AND copy_of IS NULL AND id <> $1) d
		WHERE same_content OR same_identity OR distance <= $7
		ORDER BY same_content DESC, same_identity DESC, distance, id LIMIT 8`,
		documentID, t.R.ID, t.R.Tenant, f.ContentHash, identity, int64(f.Similarity), near)
	if err != nil {
		return nil, fmt.Errorf("look for the same page as document %d: %w", documentID, err)
	}
	return alike, nil
}

// Contents reads the texts of pages.
func (t *Tx) Contents(ctx context.Context, documentIDs []int64) (map[int64]string, error) {
	type text struct {
		ID      int64
		Content string
	}
	rows, err := collect(ctx, t.tx, pgx.RowToStructByPos[text], `SELECT id, content FROM document
		WHERE id = ANY($1) AND research_id = $2 AND tenant = $3 AND content IS NOT NULL`, documentIDs, t.R.ID, t.R.Tenant)
	if err != nil {
		return nil, fmt.Errorf("read the texts of documents: %w", err)
	}
	contents := make(map[int64]string, len(rows))
	for _, r := range rows {
		contents[r.ID] = r.Content
	}
	return contents, nil
}

// MarkCopy notes that a page is the same as another one, which is no copy itself.
func (t *Tx) MarkCopy(ctx context.Context, documentID, original int64) error {
	err := t.tx.write(ctx, "UPDATE document SET copy_of = $4 WHERE id = $1 AND research_id = $2 AND tenant = $3",
		documentID, t.R.ID, t.R.Tenant, original)
	if err != nil {
		return fmt.Errorf("mark document %d as a copy: %w", documentID, err)
	}
	return nil
}

// PagesOfDomains counts the pages of a research that are read, were read, or could not be, by
// their domain. The given ones, and those that a budget or a cap kept out, do not count.
func (t *Tx) PagesOfDomains(ctx context.Context, domains []string, except []int64) (map[string]int, error) {
	type counted struct {
		Domain string
		Pages  int
	}
	rows, err := collect(ctx, t.tx, pgx.RowToStructByPos[counted], `SELECT domain, count(*) FROM document
		WHERE research_id = $1 AND tenant = $2 AND domain = ANY($3) AND reason <> 'over_budget' AND NOT id = ANY($4)
		GROUP BY domain`, t.R.ID, t.R.Tenant, domains, except)
	if err != nil {
		return nil, fmt.Errorf("count the pages of domains: %w", err)
	}
	pages := make(map[string]int, len(rows))
	for _, r := range rows {
		pages[r.Domain] = r.Pages
	}
	return pages, nil
}
