// Package ladder reads a page by the cheapest way that shows its text: plain HTTP
// first, a browser where that is not enough.
package ladder

import (
	"context"
	"errors"
	"log/slog"
	"mime"

	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/scraper/internal/extract"
	"github.com/fathom-research/fathom/services/scraper/internal/fetch"
)

// The rungs, as they are stored with a page.
const (
	HTTP   = "http"
	Chrome = "chrome"
)

// Mode forces a rung, or leaves the choice to what comes back.
type Mode string

// The modes.
const (
	Auto       Mode = "auto"
	OnlyChrome Mode = "chrome"
	OnlyHTTP   Mode = "http"
)

// Fetcher reads one document. Its errors are *fault.Error, or those of ctx.
type Fetcher interface {
	Get(ctx context.Context, address string) (*fetch.Response, error)
}

// Extract makes the page of a document. Its errors are *fault.Error.
type Extract func(document extract.Document) (*workv1.Page, error)

// Ladder climbs from rung to rung. It is safe for concurrent use.
type Ladder struct {
	mode   Mode
	plain  Fetcher
	chrome Fetcher
	read   Extract
	logger *slog.Logger
}

// New makes a Ladder. chrome may be nil where there is no browser: then what plain
// HTTP shows is all there is.
func New(mode Mode, plain, chrome Fetcher, read Extract, logger *slog.Logger) *Ladder {
	return &Ladder{mode: mode, plain: plain, chrome: chrome, read: read, logger: logger}
}

// Reading is a page with the document that it was read from.
type Reading struct {
	Page *workv1.Page
	// Body is the document as it was served, or as the browser showed it.
	Body []byte
}

// Read reads the page at address.
func (l *Ladder) Read(ctx context.Context, address string) (*Reading, error) {
	switch {
	case l.mode == OnlyHTTP || l.chrome == nil:
		first, err := l.readPlain(ctx, address)
		if err != nil {
			return nil, err
		}
		return l.settle(address, first, "")
	case l.mode == OnlyChrome:
		return l.readChrome(ctx, address, "FATHOM_SCRAPER_MODE is chrome")
	default:
		return l.climb(ctx, address)
	}
}

// step is an answer of plain HTTP, and why a browser should have another look.
type step struct {
	answer *fetch.Response
	// failure is set when the answer is no page; it may be a wall all the same.
	failure error
	why     string
}

func (l *Ladder) climb(ctx context.Context, address string) (*Reading, error) {
	first, err := l.readPlain(ctx, address)
	if err != nil && fetch.Dropped(err) && ctx.Err() == nil {
		first, err = &step{failure: err, why: "the connection was dropped"}, nil
	}
	if err != nil {
		return nil, err
	}
	var reading *Reading
	if first.failure == nil {
		reading, err = l.settle(address, first, "")
		if first.why == "" && isEmpty(err) && first.answer != nil && outlineOf(first.answer.Body).scripts > 0 {
			first.why = "no text without scripts"
		}
	} else {
		err = first.failure
	}
	if first.why == "" {
		return reading, err
	}
	rendered, chromeErr := l.readChrome(ctx, address, first.why)
	switch {
	case chromeErr == nil && (reading == nil || len(rendered.Page.GetText()) >= len(reading.Page.GetText())):
		return rendered, nil
	case ctx.Err() != nil:
		return nil, chromeErr
	case reading != nil:
		reading.Page.RungReason = "the browser showed no more"
		if chromeErr != nil {
			reading.Page.RungReason = "the browser failed: " + chromeErr.Error()
		}
		return reading, nil
	case first.failure != nil && !isBlocked(chromeErr):
		// The browser met the same refusal, or was worse off.
		l.logger.DebugContext(ctx, "browser did not help", "reason", first.why, "error", chromeErr)
		return nil, err
	default:
		return nil, chromeErr
	}
}

// maxRefreshes bounds the pages that send a reader on to another one.
const maxRefreshes = 3

func (l *Ladder) readPlain(ctx context.Context, address string) (*step, error) {
	for range maxRefreshes {
		answer, err := l.plain.Get(ctx, address)
		if err != nil {
			return nil, err
		}
		s := &step{answer: answer, failure: fetch.StatusFault(answer.Status, answer.Header)}
		if !isHTML(answer) {
			return s, nil
		}
		o := outlineOf(answer.Body)
		name := wall(answer.Status, answer.Header, answer.Body, o)
		if name != "" {
			s.why = "bot wall: " + name
			if s.failure == nil {
				s.failure = fault.Permanent(fault.Blocked, "the page is a bot wall: %s", name)
			}
			return s, nil
		}
		if s.failure != nil {
			return s, nil //nolint:nilerr // the answer is judged with its failure by the caller
		}
		next := o.refreshTarget(answer.FinalURL)
		if next == "" || o.letters >= onlyFurniture {
			_, s.why = o.needsScripts()
			return s, nil
		}
		address = next
	}
	return nil, fault.Permanent(fault.Unavailable, "more than %d pages refer to one another", maxRefreshes)
}

func (l *Ladder) readChrome(ctx context.Context, address, why string) (*Reading, error) {
	answer, err := l.chrome.Get(ctx, address)
	var document *fetch.NotAPage
	if errors.As(err, &document) {
		return l.readDocument(ctx, address, document)
	}
	if err != nil {
		return nil, err
	}
	o := outlineOf(answer.Body)
	name := wall(answer.Status, answer.Header, answer.Body, o)
	failure := fetch.StatusFault(answer.Status, answer.Header)
	switch {
	case failure != nil && (name == "" || name == bareRefusal || fault.As(failure).Retryable):
		return nil, failure
	case name != "":
		return nil, fault.Permanent(fault.Blocked, "a bot wall, in the browser too: %s", name)
	}
	return l.extract(address, answer, Chrome, why)
}

func (l *Ladder) readDocument(ctx context.Context, address string, document *fetch.NotAPage) (*Reading, error) {
	first, err := l.readPlain(ctx, address)
	if err != nil {
		return nil, err
	}
	return l.settle(address, first, document.Error())
}

// settle makes the page of what plain HTTP brought.
func (l *Ladder) settle(address string, s *step, why string) (*Reading, error) {
	if s.failure != nil {
		return nil, s.failure
	}
	return l.extract(address, s.answer, HTTP, why)
}

func (l *Ladder) extract(address string, answer *fetch.Response, rung, why string) (*Reading, error) {
	contentType := answer.Header.Get("Content-Type")
	page, err := l.read(extract.Document{
		URL: address, FinalURL: answer.FinalURL, ContentType: contentType, Body: answer.Body,
	})
	if err != nil {
		return nil, err
	}
	page.FinalUrl, page.Rung, page.RungReason = answer.FinalURL, rung, why
	if page.GetContentType() == "" {
		page.ContentType = mediaType(answer)
	}
	return &Reading{Page: page, Body: answer.Body}, nil
}

func isHTML(answer *fetch.Response) bool {
	media := mediaType(answer)
	return media == "text/html" || media == "application/xhtml+xml"
}

func mediaType(answer *fetch.Response) string {
	media, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err == nil && media != "application/octet-stream" {
		return media
	}
	return fetch.Sniff(answer.Body)
}

func isEmpty(err error) bool { return err != nil && fault.As(err).Code == fault.Empty }

func isBlocked(err error) bool { return err != nil && fault.As(err).Code == fault.Blocked }
