package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Snapshot is a page as it was when it was read.
type Snapshot struct {
	ContentType string
	// Zstd is the body, compressed; nil when it is not kept, or not any more.
	Zstd   []byte
	ReadAt time.Time
}

// Snapshot reads the page of a research that was found under url.
func (s *Store) Snapshot(ctx context.Context, tenant, researchID, url string) (Snapshot, error) {
	snapshot, err := one(ctx, s.pool, pgx.RowToStructByPos[Snapshot], `SELECT coalesce(page->>'contentType', ''), raw, settled_at
		FROM document WHERE research_id = $1 AND tenant = $2 AND url = $3 AND status = 'scraped'`, researchID, tenant, url)
	if err != nil {
		return snapshot, fmt.Errorf("read the snapshot of %.200q: %w", url, err)
	}
	return snapshot, nil
}

// DropRaw forgets the bytes of at most limit pages that were read longer ago than
// lifetime, and returns how many. Their texts stay. No decision reads them, so it
// needs no lock on a research; rows that somebody else holds wait for the next time.
func (s *Store) DropRaw(ctx context.Context, lifetime time.Duration, limit int) (int, error) {
	tag, err := s.pool.Exec(ctx, `UPDATE document SET raw = NULL WHERE id IN (
		SELECT id FROM document WHERE raw IS NOT NULL AND settled_at < now() - $1::interval
		ORDER BY settled_at LIMIT $2 FOR UPDATE SKIP LOCKED)`, lifetime, limit)
	if err != nil {
		return 0, fmt.Errorf("drop the bytes of old pages: %w", err)
	}
	return int(tag.RowsAffected()), nil
}
