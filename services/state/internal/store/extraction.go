package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Extraction is a claim with its quote, as it is stored.
type Extraction struct {
	ID          int64
	Claim       string
	Quote       string
	Start       int
	End         int
	HeadingPath []string
	Page        int
	Relevance   float64
}

const extractionColumns = "id, claim, quote, start_offset, end_offset, heading_path, page, relevance"

func (e *Extraction) targets() []any {
	return []any{&e.ID, &e.Claim, &e.Quote, &e.Start, &e.End, &e.HeadingPath, &e.Page, &e.Relevance}
}

// SaveExtractions stores what a page gave to a query.
func (t *Tx) SaveExtractions(ctx context.Context, queryID string, siteID int64, extractions []Extraction) error {
	if len(extractions) == 0 {
		return nil
	}
	batch := new(pgx.Batch)
	for i, e := range extractions {
		path := e.HeadingPath
		if path == nil {
			path = []string{}
		}
		batch.Queue(`INSERT INTO extraction (tenant, research_id, query_id, website_id, ordinal,
			claim, quote, start_offset, end_offset, heading_path, page, relevance)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
			t.R.Tenant, t.R.ID, queryID, siteID, i, e.Claim, e.Quote, e.Start, e.End, path, e.Page, e.Relevance)
	}
	err := t.tx.writeAll(ctx, batch)
	if err != nil {
		return fmt.Errorf("save the extractions of website %d: %w", siteID, err)
	}
	return nil
}
