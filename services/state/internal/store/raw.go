package store

import (
	"context"
	"fmt"
	"time"
)

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
