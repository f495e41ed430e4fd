package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Event is one thing that happened in a research.
type Event struct {
	Sequence      int
	Type          string
	At            time.Time
	QueryID       string
	URL           string
	Message       string
	Reason        string
	QueryText     string
	ParentQueryID string
	Depth         int
	Ordinal       int
	Count         int
}

// Tell adds an event and returns its number. Numbers are given under the lock of
// the research, so they have no gap and follow the order of commits.
func (t *Tx) Tell(e Event) int {
	t.R.EventSequence++
	e.Sequence = t.R.EventSequence
	t.events = append(t.events, e)
	t.changed.Events = true
	return e.Sequence
}

func (t *Tx) queueEvents(batch *pgx.Batch) {
	for _, e := range t.events {
		batch.Queue(`INSERT INTO event (research_id, sequence, tenant, type, query_id, url, message, reason,
			query_text, parent_query_id, depth, ordinal, count)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
			t.R.ID, e.Sequence, t.R.Tenant, e.Type, e.QueryID, e.URL, e.Message, e.Reason,
			e.QueryText, e.ParentQueryID, e.Depth, e.Ordinal, e.Count)
	}
}

// Events reads at most limit events after the given number, in order.
func (s *Store) Events(ctx context.Context, tenant, researchID string, after, limit int) ([]Event, error) {
	events, err := collect(ctx, s.pool, func(row pgx.CollectableRow) (Event, error) {
		var e Event
		return e, row.Scan(&e.Sequence, &e.Type, &e.At, &e.QueryID, &e.URL, &e.Message, &e.Reason,
			&e.QueryText, &e.ParentQueryID, &e.Depth, &e.Ordinal, &e.Count)
	}, `SELECT sequence, type, at, query_id, url, message, reason, query_text, parent_query_id, depth, ordinal, count
		FROM event WHERE research_id = $1 AND tenant = $2 AND sequence > $3 ORDER BY sequence LIMIT $4`,
		researchID, tenant, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read the events of research %s: %w", researchID, err)
	}
	return events, nil
}
