package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/copies"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// search stores a query's websites and has the pages scraped that nobody found
// before. Pages that were read, or failed, for another query arrive at once.
func (e *Engine) search(ctx context.Context, tx *store.Tx, task store.Task, result *workv1.SearchResult) (*fault.Error, error) {
	query, err := tx.Query(ctx, task.QueryID)
	if err != nil {
		return nil, err
	}
	err = done(ctx, tx, task)
	if err != nil {
		return nil, err
	}
	hits := distinct(result.GetHits(), e.settings.SearchLimit)
	tx.Tell(store.Event{Type: "query.searched", QueryID: query.ID, Count: len(hits), Message: strings.Join(result.GetUnresponsive(), "; ")})
	err = tx.OpenURLs(ctx, query.ID, len(hits))
	if err != nil {
		return nil, err
	}
	query.URLsOpen = len(hits)
	if len(hits) > 0 {
		query, err = e.openSites(ctx, tx, query, hits)
		if err != nil {
			return nil, err
		}
	}
	return nil, e.proceed(ctx, tx, workflow.Searched, query)
}

// openSites stores a query's websites and returns the query as it is then.
func (e *Engine) openSites(ctx context.Context, tx *store.Tx, query store.Query, hits []store.Hit) (store.Query, error) {
	documents, fresh, err := tx.AddDocuments(ctx, hits)
	if err != nil {
		return query, err
	}
	sites, err := tx.AddSites(ctx, query.ID, hits, documents)
	if err != nil {
		return query, err
	}
	domains, err := e.countDomains(ctx, tx, hits, documents, fresh)
	if err != nil {
		return query, err
	}
	left, short, err := e.scarcest(ctx, tx, purse.pages)
	if err != nil {
		return query, err
	}
	var tasks []store.Task
	for i, d := range documents {
		change := &query
		switch {
		case fresh[d.ID] && len(tasks) == left:
			limited(tx, short)
			change, err = e.refusePage(ctx, tx, sites[i], overBudget)
		case fresh[d.ID] && !domains.take(hits[i].Domain):
			change, err = e.refusePage(ctx, tx, sites[i], domains.refusal(hits[i].Domain))
		case fresh[d.ID]:
			tx.R.PagesUsed++
			tasks = append(tasks, store.Task{Kind: bus.Scrape, DocumentID: d.ID})
			continue
		case d.Status == workflow.SiteScraped:
			change, err = e.arrive(ctx, tx, sites[i])
		case d.Status == workflow.SiteFailed:
			change, err = e.settleSite(ctx, tx, sites[i], store.Settlement{Status: workflow.SiteFailed, Reason: d.Reason, Message: d.Message}, 0)
		}
		if err != nil {
			return query, err
		}
		if change != nil {
			query = *change
		}
	}
	return query, tx.AddTasks(ctx, tasks...)
}

// refusePage fails a page that there is no room for.
func (e *Engine) refusePage(ctx context.Context, tx *store.Tx, site store.Site, message string) (*store.Query, error) {
	err := tx.FailDocument(ctx, site.DocumentID, string(fault.OverBudget), message)
	if err != nil {
		return nil, err
	}
	s := refused()
	s.Message = message
	return e.settleSite(ctx, tx, site, s, 0)
}

// scrape stores a page, which then arrives at every query that waits for it.
func (e *Engine) scrape(ctx context.Context, tx *store.Tx, task store.Task, result *workv1.ScrapeResult) (*fault.Error, error) {
	page := result.GetPage()
	if page.GetText() == "" {
		return fault.Permanent(fault.Empty, "the page has no text"), nil
	}
	scraped, err := scrapedPage(page, result.GetRaw())
	if err != nil {
		return nil, err
	}
	err = done(ctx, tx, task)
	if err != nil {
		return nil, err
	}
	err = tx.SaveContent(ctx, task.DocumentID, scraped)
	if err != nil {
		return nil, err
	}
	err = noteCopy(ctx, tx, task.DocumentID, page, scraped.ContentHash)
	if err != nil {
		return nil, err
	}
	return nil, e.eachWaiting(ctx, tx, task.DocumentID, func(site store.Site) (*store.Query, error) {
		return e.arrive(ctx, tx, site)
	})
}

// pageFailed settles the websites of a page that can't be read.
func (e *Engine) pageFailed(ctx context.Context, tx *store.Tx, documentID int64, code, message string) error {
	err := tx.FailDocument(ctx, documentID, code, message)
	if err != nil {
		return err
	}
	return e.eachWaiting(ctx, tx, documentID, func(site store.Site) (*store.Query, error) {
		return e.settleSite(ctx, tx, site, store.Settlement{Status: workflow.SiteFailed, Reason: code, Message: message}, 0)
	})
}

// eachWaiting does the same to every website that waits for a document, and then
// lets each of their queries go on.
func (e *Engine) eachWaiting(ctx context.Context, tx *store.Tx, documentID int64, do func(site store.Site) (*store.Query, error)) error {
	sites, err := tx.WaitingSites(ctx, documentID)
	if err != nil {
		return err
	}
	for _, site := range sites {
		settled, err := do(site)
		if err != nil {
			return err
		}
		if settled == nil {
			err = e.dispatch(ctx, tx, site.QueryID)
		} else {
			err = e.proceed(ctx, tx, workflow.SiteSettled, *settled)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// arrive makes a website ready for its analysis, or settles it when its query has the
// same page already. It returns the query if it settled it.
func (e *Engine) arrive(ctx context.Context, tx *store.Tx, site store.Site) (*store.Query, error) {
	arrived := tx.Tell(store.Event{Type: "website.scraped", QueryID: site.QueryID, URL: site.URL})
	twin, err := tx.Arrive(ctx, site, arrived)
	if err != nil || twin == 0 {
		return nil, err
	}
	return e.settleSite(ctx, tx, site, store.Settlement{Status: workflow.SiteAnalyzed, Reason: string(fault.OK), CopyOf: twin}, 0)
}

// settleSite ends a website and tells of it. It returns its query, or nil when the
// website had its end already.
func (e *Engine) settleSite(ctx context.Context, tx *store.Tx, site store.Site, s store.Settlement, extractions int) (*store.Query, error) {
	query, url, err := tx.Settle(ctx, site.ID, s)
	if err != nil || url == "" {
		return nil, err
	}
	tx.Tell(store.Event{
		Type: "website." + string(s.Status), QueryID: site.QueryID, URL: url,
		Message: s.Message, Reason: s.Reason, Count: extractions,
	})
	return &query, nil
}

// analyze stores what a page gave to its query.
func (e *Engine) analyze(ctx context.Context, tx *store.Tx, task store.Task, result *workv1.AnalyzeResult) (*fault.Error, error) {
	extractions := make([]store.Extraction, 0, len(result.GetExtractions()))
	for _, x := range result.GetExtractions() {
		if x.GetStart() < 0 || x.GetEnd() < x.GetStart() {
			return fault.Transient(fault.InvalidAnswer, "an extraction at %d–%d", x.GetStart(), x.GetEnd()), nil
		}
		extractions = append(extractions, store.Extraction{
			Claim: x.GetClaim(), Quote: x.GetQuote(), Start: int(x.GetStart()), End: int(x.GetEnd()),
			HeadingPath: x.GetHeadingPath(), Page: int(x.GetPage()), Relevance: x.GetRelevance(),
		})
	}
	err := done(ctx, tx, task)
	if err != nil {
		return nil, err
	}
	err = tx.SaveExtractions(ctx, task.QueryID, task.SiteID, extractions)
	if err != nil {
		return nil, err
	}
	return nil, e.analyzed(ctx, tx, task, store.Settlement{
		Status: workflow.SiteAnalyzed, Reason: string(fault.OK), Unlocated: int(max(0, result.GetUnlocated())),
	}, len(extractions))
}

// analysisFailed settles a website whose analysis failed for good.
func (e *Engine) analysisFailed(ctx context.Context, tx *store.Tx, task store.Task, code, message string) error {
	return e.analyzed(ctx, tx, task, store.Settlement{Status: workflow.SiteFailed, Reason: code, Message: message}, 0)
}

func (e *Engine) analyzed(ctx context.Context, tx *store.Tx, task store.Task, s store.Settlement, extractions int) error {
	site := store.Site{ID: task.SiteID, QueryID: task.QueryID}
	query, err := e.settleSite(ctx, tx, site, s, extractions)
	if err != nil || query == nil {
		return err
	}
	if s.Status == workflow.SiteFailed {
		err := failCopies(ctx, tx, site, s)
		if err != nil {
			return err
		}
	}
	return e.proceed(ctx, tx, workflow.SiteSettled, *query)
}

// failCopies lets the copies of a website share its fate: they were counted off as
// analyzed since it would be.
func failCopies(ctx context.Context, tx *store.Tx, site store.Site, s store.Settlement) error {
	urls, err := tx.FailCopies(ctx, site.ID, s)
	if err != nil {
		return err
	}
	for _, url := range urls {
		tx.Tell(store.Event{Type: "website.failed", QueryID: site.QueryID, URL: url, Message: s.Message, Reason: s.Reason})
	}
	return nil
}

// proceed lets a query go on: its next analysis, or what follows its completion.
func (e *Engine) proceed(ctx context.Context, tx *store.Tx, happening workflow.Happening, query store.Query) error {
	if query.URLsOpen > 0 {
		return e.dispatch(ctx, tx, query.ID)
	}
	reason, err := tx.QueryOutcome(ctx, query.ID)
	if err != nil {
		return err
	}
	return e.follow(ctx, tx, workflow.Decide(situation(tx, happening, &query)), &query, reason, "")
}

// distinct keeps the first limit hits that are different pages.
func distinct(hits []*workv1.Hit, limit int) []store.Hit {
	seen := make(map[string]bool, len(hits))
	kept := make([]store.Hit, 0, limit)
	for _, hit := range hits {
		key := hit.GetNormalizedUrl()
		if key == "" {
			key = hit.GetUrl()
		}
		if hit.GetUrl() == "" || seen[key] || len(kept) == limit {
			continue
		}
		seen[key] = true
		kept = append(kept, store.Hit{
			URL: hit.GetUrl(), NormalizedURL: key, Title: hit.GetTitle(), Snippet: hit.GetSnippet(),
			Engine: hit.GetEngine(), Published: optionalTime(hit.GetPublished()), Domain: copies.Domain(hit.GetUrl()),
		})
	}
	return kept
}

func scrapedPage(page *workv1.Page, raw []byte) (store.Scraped, error) {
	rest := proto.CloneOf(page)
	rest.Text = ""
	encoded, err := protojson.Marshal(rest)
	if err != nil {
		return store.Scraped{}, fmt.Errorf("encode a page: %w", err)
	}
	hash := page.GetContentHash()
	if hash == "" {
		sum := sha256.Sum256([]byte(page.GetText()))
		hash = hex.EncodeToString(sum[:])
	}
	return store.Scraped{
		Title: page.GetTitle(), Content: page.GetText(), ContentHash: hash, Language: page.GetLanguage(),
		Published: optionalTime(page.GetPublished()), Rung: page.GetRung(), Page: encoded, Raw: raw,
	}, nil
}

// optionalTime is nil for a time that is not set or that no calendar has.
func optionalTime(t *timestamppb.Timestamp) *time.Time {
	if t == nil || t.CheckValid() != nil {
		return nil
	}
	value := t.AsTime()
	return &value
}
