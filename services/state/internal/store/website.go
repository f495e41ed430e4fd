package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// Hit is a page that a search found.
type Hit struct {
	URL           string
	NormalizedURL string
	Title         string
	Snippet       string
	Engine        string
	Published     *time.Time
	// Domain is the registrable domain of URL, empty where there is none.
	Domain string
}

// Document is a page of a research: several queries may have found it, it is
// fetched once.
type Document struct {
	ID      int64
	URL     string
	Status  workflow.SiteStatus
	Reason  string
	Message string
}

// AddDocuments stores the pages that are new to the research and returns all of the
// hits' pages, in the order of the hits, which must be different pages. fresh
// holds those that nobody found before.
func (t *Tx) AddDocuments(ctx context.Context, hits []Hit) ([]Document, map[int64]bool, error) {
	digests := make([][]byte, len(hits))
	batch := new(pgx.Batch)
	fresh := make(map[int64]bool)
	for i, hit := range hits {
		digest := sha256.Sum256([]byte(hit.NormalizedURL))
		digests[i] = digest[:]
		batch.Queue(`INSERT INTO document (tenant, research_id, url, normalized_url, url_digest, title, domain)
			VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (research_id, url_digest) DO NOTHING RETURNING id`,
			t.R.Tenant, t.R.ID, hit.URL, hit.NormalizedURL, digests[i], hit.Title, hit.Domain).
			Query(func(rows pgx.Rows) error {
				ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
				for _, id := range ids {
					fresh[id] = true
				}
				return err
			})
	}
	err := t.tx.send(ctx, batch)
	if err != nil {
		return nil, nil, fmt.Errorf("insert the documents of research %s: %w", t.R.ID, err)
	}
	documents, err := collect(ctx, t.tx, func(row pgx.CollectableRow) (Document, error) {
		var d Document
		return d, row.Scan(&d.ID, &d.URL, &d.Status, &d.Reason, &d.Message)
	}, `SELECT d.id, d.url, d.status, d.reason, d.error_message
		FROM unnest($3::bytea[]) WITH ORDINALITY AS wanted (digest, position)
		JOIN document d ON d.research_id = $1 AND d.tenant = $2 AND d.url_digest = wanted.digest
		ORDER BY wanted.position`, t.R.ID, t.R.Tenant, digests)
	if err != nil {
		return nil, nil, fmt.Errorf("read the documents of research %s: %w", t.R.ID, err)
	}
	return documents, fresh, nil
}

// Site is one page of one query.
type Site struct {
	ID         int64
	QueryID    string
	DocumentID int64
	URL        string
}

// AddSites stores a query's websites, the best first. hits and documents are
// parallel. Each begins as its document stands, or as pending when that is
// settled already: the caller lets those arrive or fail.
func (t *Tx) AddSites(ctx context.Context, queryID string, hits []Hit, documents []Document) ([]Site, error) {
	sites := make([]Site, len(documents))
	batch := new(pgx.Batch)
	for i, d := range documents {
		sites[i] = Site{QueryID: queryID, DocumentID: d.ID, URL: d.URL}
		status := workflow.SitePending
		if d.Status == workflow.SiteScraping {
			status = workflow.SiteScraping
		}
		batch.Queue(`INSERT INTO website (tenant, research_id, query_id, document_id, rank, status, title, snippet, engine, published)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id`,
			t.R.Tenant, t.R.ID, queryID, d.ID, i, status, hits[i].Title, hits[i].Snippet, hits[i].Engine, hits[i].Published).
			QueryRow(func(row pgx.Row) error { return row.Scan(&sites[i].ID) })
	}
	err := t.tx.send(ctx, batch)
	if err != nil {
		return nil, fmt.Errorf("insert the websites of query %s: %w", queryID, err)
	}
	return sites, nil
}

// WaitingSites reads the websites that wait for their document to be read.
func (t *Tx) WaitingSites(ctx context.Context, documentID int64) ([]Site, error) {
	sites, err := collect(ctx, t.tx, func(row pgx.CollectableRow) (Site, error) {
		var s Site
		return s, row.Scan(&s.ID, &s.QueryID, &s.DocumentID, &s.URL)
	}, `SELECT w.id, w.query_id, w.document_id, d.url
		FROM website w JOIN document d ON d.id = w.document_id
		WHERE w.document_id = $1 AND w.research_id = $2 AND w.tenant = $3 AND w.status IN ('pending', 'scraping')
		ORDER BY w.id`, documentID, t.R.ID, t.R.Tenant)
	if err != nil {
		return nil, fmt.Errorf("read the websites of document %d: %w", documentID, err)
	}
	return sites, nil
}

// UnanalyzedSites reads a query's scraped websites that no analysis was made for, in
// order of arrival.
func (t *Tx) UnanalyzedSites(ctx context.Context, queryID string) ([]Site, error) {
	sites, err := collect(ctx, t.tx, func(row pgx.CollectableRow) (Site, error) {
		s := Site{QueryID: queryID}
		return s, row.Scan(&s.ID, &s.DocumentID)
	}, `SELECT w.id, w.document_id FROM website w WHERE w.query_id = $1 AND w.tenant = $2 AND w.status = 'scraped'
		AND NOT EXISTS (SELECT FROM task t WHERE t.website_id = w.id) ORDER BY w.arrived`, queryID, t.R.Tenant)
	if err != nil {
		return nil, fmt.Errorf("read the waiting websites of query %s: %w", queryID, err)
	}
	return sites, nil
}

// Arrive marks a website as scraped, arrived being the number of the event that
// tells of it. It returns the website of the same query that shows the same page and
// came before, or 0.
func (t *Tx) Arrive(ctx context.Context, site Site, arrived int) (int64, error) {
	var twin int64
	err := t.tx.QueryRow(ctx, `WITH arrived AS (
			UPDATE website SET status = 'scraped', arrived = $4
			WHERE id = $1 AND research_id = $2 AND tenant = $3 AND status IN ('pending', 'scraping'))
		SELECT coalesce((SELECT w.id FROM website w JOIN document d ON d.id = w.document_id
			WHERE w.query_id = $5 AND w.tenant = $3 AND w.id <> $1 AND w.copy_of IS NULL
			AND w.status IN ('scraped', 'analyzed')
			AND coalesce(d.copy_of, d.id) = (SELECT coalesce(copy_of, id) FROM document WHERE id = $6)
			ORDER BY w.arrived LIMIT 1), 0)`,
		site.ID, t.R.ID, t.R.Tenant, arrived, site.QueryID, site.DocumentID).Scan(&twin)
	if err != nil {
		return 0, fmt.Errorf("mark website %d as scraped: %w", site.ID, err)
	}
	return twin, nil
}

// Settlement is how a website ends.
type Settlement struct {
	Status    workflow.SiteStatus
	Reason    string
	Message   string
	CopyOf    int64
	Unlocated int
}

// Settle ends a website and counts it off its query. Success, failure, timeout and
// dead letter all come through here. It returns the query and the website's URL; the URL is
// empty, and nothing changed, when the website had its end already.
func (t *Tx) Settle(ctx context.Context, siteID int64, s Settlement) (Query, string, error) {
	type settled struct {
		Query

		url string
	}
	rows, err := collect(ctx, t.tx, func(row pgx.CollectableRow) (settled, error) {
		var r settled
		return r, row.Scan(&r.ID, &r.Depth, &r.Breadth, &r.URLsOpen, &r.Status, &r.url)
	}, `WITH settled AS (
			UPDATE website SET status = $4, reason = $5, error_message = $6, copy_of = nullif($7, 0::bigint),
				unlocated = $8, settled_at = now()
			WHERE id = $1 AND research_id = $2 AND tenant = $3 AND status NOT IN ('analyzed', 'failed')
			RETURNING query_id, document_id)
		UPDATE serp_query q SET urls_open = q.urls_open - 1 FROM settled JOIN document d ON d.id = settled.document_id
		WHERE q.id = settled.query_id RETURNING q.id, q.depth, q.breadth, q.urls_open, q.status, d.url`,
		siteID, t.R.ID, t.R.Tenant, s.Status, s.Reason, s.Message, s.CopyOf, s.Unlocated)
	if err != nil {
		return Query{}, "", fmt.Errorf("settle website %d: %w", siteID, err)
	}
	if len(rows) == 0 {
		return Query{}, "", nil
	}
	return rows[0].Query, rows[0].url, nil
}

// FailCopies gives the copies of a website its failure and returns their URLs. They
// were settled before, so their query's counter stays.
func (t *Tx) FailCopies(ctx context.Context, siteID int64, s Settlement) ([]string, error) {
	urls, err := collect(ctx, t.tx, pgx.RowTo[string], `UPDATE website w SET status = 'failed', reason = $4, error_message = $5
		FROM document d WHERE d.id = w.document_id AND w.copy_of = $1 AND w.research_id = $2 AND w.tenant = $3
		AND w.status = 'analyzed' RETURNING d.url`, siteID, t.R.ID, t.R.Tenant, s.Reason, s.Message)
	if err != nil {
		return nil, fmt.Errorf("fail the copies of website %d: %w", siteID, err)
	}
	return urls, nil
}

// Scraped is what was read of a page.
type Scraped struct {
	Title       string
	Content     string
	ContentHash string
	Language    string
	Published   *time.Time
	Rung        string
	// Page is the rest, as JSON.
	Page []byte
	Raw  []byte
}

// SaveContent stores what was read of a page.
func (t *Tx) SaveContent(ctx context.Context, documentID int64, s Scraped) error {
	err := t.tx.write(ctx, `UPDATE document SET status = 'scraped', reason = 'ok', title = coalesce(nullif($4, ''), title),
		content = $5, content_hash = $6, language = $7, published = $8, rung = $9, page = $10, raw = $11, settled_at = now()
		WHERE id = $1 AND research_id = $2 AND tenant = $3 AND status IN ('pending', 'scraping')`,
		documentID, t.R.ID, t.R.Tenant, s.Title, s.Content, s.ContentHash, s.Language, s.Published, s.Rung, s.Page, s.Raw)
	if err != nil {
		return fmt.Errorf("save the content of document %d: %w", documentID, err)
	}
	return nil
}

// FailDocument stores that a page can't be read.
func (t *Tx) FailDocument(ctx context.Context, documentID int64, reason, message string) error {
	err := t.tx.write(ctx, `UPDATE document SET status = 'failed', reason = $4, error_message = $5, settled_at = now()
		WHERE id = $1 AND research_id = $2 AND tenant = $3 AND status IN ('pending', 'scraping')`,
		documentID, t.R.ID, t.R.Tenant, reason, message)
	if err != nil {
		return fmt.Errorf("fail document %d: %w", documentID, err)
	}
	return nil
}

// MarkScraping says of documents that their task is with the scrapers, and returns
// their websites that changed by it.
func (t *Tx) MarkScraping(ctx context.Context, documentIDs []int64) ([]Site, error) {
	err := t.tx.write(ctx, `UPDATE document SET status = 'scraping'
		WHERE id = ANY($1) AND research_id = $2 AND tenant = $3 AND status = 'pending'`, documentIDs, t.R.ID, t.R.Tenant)
	if err != nil {
		return nil, fmt.Errorf("mark documents as being scraped: %w", err)
	}
	sites, err := collect(ctx, t.tx, func(row pgx.CollectableRow) (Site, error) {
		var s Site
		return s, row.Scan(&s.ID, &s.QueryID, &s.DocumentID, &s.URL)
	}, `UPDATE website w SET status = 'scraping' FROM document d
		WHERE d.id = w.document_id AND d.status = 'scraping' AND w.document_id = ANY($1)
		AND w.research_id = $2 AND w.tenant = $3 AND w.status = 'pending'
		RETURNING w.id, w.query_id, w.document_id, d.url`, documentIDs, t.R.ID, t.R.Tenant)
	if err != nil {
		return nil, fmt.Errorf("mark websites as being scraped: %w", err)
	}
	return sites, nil
}
