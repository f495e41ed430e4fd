package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// Overview is a research with its texts and options.
type Overview struct {
	Research
	Dialogue
	PlannedQueries int
	Language       string
	TimeRange      string
	Categories     []string
	SafeSearch     int
	ReportWords    int
	ReportSources  int
	CreatedAt      time.Time
}

// Record is all that is stored of a research.
type Record struct {
	Overview
	// Queries are in tree order: a parent stands before its children, siblings in
	// the order of their plan.
	Queries []RecordQuery
	// Sites are in the order of their queries, the best hit first.
	Sites []RecordSite
	// Extractions are those of a website, in their order.
	Extractions map[int64][]Extraction
	// Originals are, by extraction, where those that were found on a copy of a page
	// stand on the page itself.
	Originals map[int64]Finding
	Documents int
	// Report is nil while there is none.
	Report *Report
}

// RecordQuery is a query of a record.
type RecordQuery struct {
	ID        string
	ParentID  string
	Ordinal   int
	Depth     int
	Text      string
	Objective string
	Status    workflow.QueryStatus
	Reason    string
	Message   string
}

// RecordSite is a website of a record.
type RecordSite struct {
	ID        int64
	QueryID   string
	URL       string
	Title     string
	Status    workflow.SiteStatus
	Reason    string
	Message   string
	CopyOf    string // the URL of the page that it is a copy of
	Rung      string
	Published *time.Time
	// Content is nil while there is none, or when texts were left out.
	Content *string
}

// Record reads all that is stored of a research, as it was at one moment. Without
// texts, pages' contents, extractions and the report are left out.
func (s *Store) Record(ctx context.Context, tenant, id string, texts bool) (*Record, error) {
	var record *Record
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := pgx.BeginTxFunc(ctx, s.pool, snapshot, func(tx pgx.Tx) error {
		read, err := readRecord(ctx, tx, tenant, id, texts, texts)
		record = read
		return err
	})
	return record, err
}

// Evidence reads the record without pages' contents.
func (s *Store) Evidence(ctx context.Context, tenant, id string) (*Record, error) {
	return readRecord(ctx, s.pool, tenant, id, false, true)
}

// Record reads the record, without pages' contents, as the transaction sees it.
func (t *Tx) Record(ctx context.Context) (*Record, error) {
	return readRecord(ctx, t.tx, t.R.Tenant, t.R.ID, false, true)
}

func readRecord(ctx context.Context, q querier, tenant, id string, contents, evidence bool) (*Record, error) {
	overview, err := readOverview(ctx, q, tenant, id)
	if err != nil {
		return nil, err
	}
	r := &Record{Overview: overview, Extractions: make(map[int64][]Extraction)}
	r.Queries, err = readQueries(ctx, q, tenant, id)
	if err != nil {
		return nil, err
	}
	r.Sites, err = readSites(ctx, q, tenant, id, contents)
	if err != nil {
		return nil, err
	}
	r.sortSites()
	err = q.QueryRow(ctx, "SELECT count(*) FROM document WHERE research_id = $1 AND tenant = $2", id, tenant).Scan(&r.Documents)
	if err != nil {
		return nil, fmt.Errorf("count the documents of research %s: %w", id, err)
	}
	if !evidence {
		return r, nil
	}
	err = r.readExtractions(ctx, q, tenant, id)
	if err != nil {
		return nil, err
	}
	err = r.readOriginals(ctx, q, tenant, id)
	if err != nil {
		return nil, err
	}
	report, err := readReport(ctx, q, tenant, id)
	if err == nil {
		r.Report = &report
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	return r, nil
}

// Overview reads a research with its texts and options.
func (s *Store) Overview(ctx context.Context, tenant, id string) (Overview, error) {
	return readOverview(ctx, s.pool, tenant, id)
}

func readOverview(ctx context.Context, q querier, tenant, id string) (Overview, error) {
	o, err := one(ctx, q, func(row pgx.CollectableRow) (Overview, error) {
		var o Overview
		return o, row.Scan(append(o.targets(), &o.Prompt, &o.Questions, &o.Answers, &o.PlannedQueries, &o.Language,
			&o.TimeRange, &o.Categories, &o.SafeSearch, &o.ReportWords, &o.ReportSources, &o.CreatedAt)...)
	}, `SELECT `+researchColumns+`, prompt, questions, answers, planned_queries, language,
		time_range, categories, safe_search, report_words, report_sources, created_at
		FROM research WHERE id = $1 AND tenant = $2`, id, tenant)
	if err != nil {
		return o, fmt.Errorf("read research %s: %w", id, err)
	}
	return o, nil
}

func readQueries(ctx context.Context, q querier, tenant, id string) ([]RecordQuery, error) {
	queries, err := collect(ctx, q, func(row pgx.CollectableRow) (RecordQuery, error) {
		var r RecordQuery
		return r, row.Scan(&r.ID, &r.ParentID, &r.Ordinal, &r.Depth, &r.Text, &r.Objective, &r.Status, &r.Reason, &r.Message)
	}, `SELECT id, coalesce(parent_query_id::text, ''), ordinal, depth, text, objective, status, reason, error_message
		FROM serp_query WHERE research_id = $1 AND tenant = $2 ORDER BY depth, ordinal`, id, tenant)
	if err != nil {
		return nil, fmt.Errorf("read the queries of research %s: %w", id, err)
	}
	return treeOrder(queries), nil
}

// treeOrder puts each query right after its parent and what follows from its elder
// siblings. queries are ordered by ordinal within a parent.
func treeOrder(queries []RecordQuery) []RecordQuery {
	children := make(map[string][]RecordQuery, len(queries))
	for _, q := range queries {
		children[q.ParentID] = append(children[q.ParentID], q)
	}
	ordered := make([]RecordQuery, 0, len(queries))
	stack := slices.Clone(children[""])
	slices.Reverse(stack)
	for len(stack) > 0 {
		q := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		ordered = append(ordered, q)
		below := children[q.ID]
		for i := len(below) - 1; i >= 0; i-- {
			stack = append(stack, below[i])
		}
	}
	return ordered
}

func readSites(ctx context.Context, q querier, tenant, id string, contents bool) ([]RecordSite, error) {
	sites, err := collect(ctx, q, func(row pgx.CollectableRow) (RecordSite, error) {
		var s RecordSite
		return s, row.Scan(&s.ID, &s.QueryID, &s.URL, &s.Title, &s.Status, &s.Reason, &s.Message, &s.CopyOf,
			&s.Rung, &s.Published, &s.Content)
	}, `SELECT w.id, w.query_id, d.url, coalesce(nullif(d.title, ''), w.title), w.status, w.reason, w.error_message,
		coalesce(twin.url, ''), d.rung, coalesce(d.published, w.published), CASE WHEN $3 THEN d.content END
		FROM website w JOIN document d ON d.id = w.document_id
		LEFT JOIN website first ON first.id = w.copy_of LEFT JOIN document twin ON twin.id = first.document_id
		WHERE w.research_id = $1 AND w.tenant = $2 ORDER BY w.query_id, w.rank`, id, tenant, contents)
	if err != nil {
		return nil, fmt.Errorf("read the websites of research %s: %w", id, err)
	}
	return sites, nil
}

func (r *Record) sortSites() {
	position := make(map[string]int, len(r.Queries))
	for i, q := range r.Queries {
		position[q.ID] = i
	}
	slices.SortStableFunc(r.Sites, func(a, b RecordSite) int { return position[a.QueryID] - position[b.QueryID] })
}

func (r *Record) readExtractions(ctx context.Context, q querier, tenant, id string) error {
	type located struct {
		Extraction
		site int64
	}
	all, err := collect(ctx, q, func(row pgx.CollectableRow) (located, error) {
		var e located
		return e, row.Scan(append([]any{&e.site}, e.targets()...)...)
	}, "SELECT website_id, "+extractionColumns+` FROM extraction
		WHERE research_id = $1 AND tenant = $2 ORDER BY website_id, ordinal`, id, tenant)
	if err != nil {
		return fmt.Errorf("read the extractions of research %s: %w", id, err)
	}
	for _, e := range all {
		r.Extractions[e.site] = append(r.Extractions[e.site], e.Extraction)
	}
	return nil
}
