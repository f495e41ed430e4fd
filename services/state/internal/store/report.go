package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Report is a written report.
type Report struct {
	Markdown string
	// Evidence is the result it came with, as JSON, without its Markdown.
	Evidence []byte
	Partial  bool
	At       time.Time
}

// SaveReport stores a report. Only a partial one is replaced.
func (t *Tx) SaveReport(ctx context.Context, r Report) error {
	err := t.tx.write(ctx, `INSERT INTO report (research_id, tenant, markdown, evidence, partial) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (research_id) DO UPDATE SET markdown = excluded.markdown, evidence = excluded.evidence,
			partial = excluded.partial, created_at = now() WHERE report.partial`,
		t.R.ID, t.R.Tenant, r.Markdown, r.Evidence, r.Partial)
	if err != nil {
		return fmt.Errorf("save the report of research %s: %w", t.R.ID, err)
	}
	return nil
}

// Report reads the report of a research.
func (s *Store) Report(ctx context.Context, tenant, researchID string) (Report, error) {
	return readReport(ctx, s.pool, tenant, researchID)
}

// Report reads the report, whose Markdown is empty when there is none.
func (t *Tx) Report(ctx context.Context) (Report, error) {
	r, err := readReport(ctx, t.tx, t.R.Tenant, t.R.ID)
	if errors.Is(err, ErrNotFound) {
		return Report{}, nil
	}
	return r, err
}

func readReport(ctx context.Context, q querier, tenant, researchID string) (Report, error) {
	r, err := one(ctx, q, func(row pgx.CollectableRow) (Report, error) {
		var r Report
		return r, row.Scan(&r.Markdown, &r.Evidence, &r.Partial, &r.At)
	}, "SELECT markdown, evidence, partial, created_at FROM report WHERE research_id = $1 AND tenant = $2", researchID, tenant)
	if err != nil {
		return r, fmt.Errorf("read the report of research %s: %w", researchID, err)
	}
	return r, nil
}

// SaveErrorOutput stores error-output.md, in place of an older one.
func (t *Tx) SaveErrorOutput(ctx context.Context, markdown string) error {
	err := t.tx.write(ctx, `INSERT INTO error_output (research_id, tenant, markdown) VALUES ($1, $2, $3)
		ON CONFLICT (research_id) DO UPDATE SET markdown = excluded.markdown, created_at = now()`,
		t.R.ID, t.R.Tenant, markdown)
	if err != nil {
		return fmt.Errorf("save the error output of research %s: %w", t.R.ID, err)
	}
	return nil
}

// ErrorOutput reads error-output.md.
func (s *Store) ErrorOutput(ctx context.Context, tenant, researchID string) (string, error) {
	markdown, err := one(ctx, s.pool, pgx.RowTo[string],
		"SELECT markdown FROM error_output WHERE research_id = $1 AND tenant = $2", researchID, tenant)
	if err != nil {
		return "", fmt.Errorf("read the error output of research %s: %w", researchID, err)
	}
	return markdown, nil
}
