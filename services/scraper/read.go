package scraper

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/types/known/timestamppb"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/scraper/internal/extract"
	"github.com/fathom-research/fathom/services/scraper/internal/fetch"
	"github.com/fathom-research/fathom/services/scraper/internal/guard"
	"github.com/fathom-research/fathom/services/scraper/internal/ladder"
	"github.com/fathom-research/fathom/services/scraper/internal/polite"
)

// Reader reads single pages, without the manners that many requests ask for: it
// neither looks at robots.txt nor waits between two pages of a site. It is safe for
// concurrent use.
type Reader struct {
	cfg    Config
	guard  *guard.Guard
	plain  *fetch.Client
	robots *fetch.Client
	// browser is nil where there is none.
	browser *browser
	ladder  *ladder.Ladder
	zstd    *zstd.Encoder
	ended   sync.Once
}

// NewReader makes a Reader; Close ends what it keeps running.
func NewReader(cfg Config) (*Reader, error) { return newReader(cfg, slog.Default()) }

func newReader(cfg Config, logger *slog.Logger) (*Reader, error) {
	err := cfg.Validate()
	if err != nil {
		return nil, err
	}
	proxy, _ := cfg.proxyURL()
	rules, err := guard.New(guard.Options{Allow: cfg.Allow, Deny: cfg.Deny})
	if err != nil {
		return nil, err
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		return nil, fmt.Errorf("make a compressor: %w", err)
	}
	r := &Reader{cfg: cfg, guard: rules, zstd: encoder}
	options := fetch.Options{
		Dial: rules.DialContext, Proxy: proxy, Check: r.check,
		UserAgent: cfg.UserAgent, Language: cfg.Language,
		Timeout: cfg.HTTPTimeout, MaxBytes: cfg.MaxBytes,
	}
	r.plain = fetch.New(options)
	options.MaxBytes = robotsBytes
	options.Truncate = true
	r.robots = fetch.New(options)
	r.browser, err = r.openBrowser(proxy, logger)
	if err != nil {
		return nil, err
	}
	var rendering ladder.Fetcher
	if r.browser != nil {
		rendering = r.browser
	}
	r.ladder = ladder.New(ladder.Mode(cfg.Mode), r.plain, rendering, extract.Page, logger)
	return r, nil
}

// Close ends idle connections and the browser. It is safe to call twice.
func (r *Reader) Close() error {
	var failures []error
	r.ended.Do(func() {
		r.plain.Close()
		r.robots.Close()
		failures = append(failures, r.zstd.Close())
		if r.browser != nil {
			failures = append(failures, r.browser.close())
		}
	})
	return errors.Join(failures...)
}

// Read reads the page at address. Its errors are *fault.Error, or those of ctx.
func (r *Reader) Read(ctx context.Context, address string) (*workv1.ScrapeResult, error) {
	reading, err := r.ladder.Read(ctx, address)
	if err != nil {
		return nil, err
	}
	reading.Page.FetchedAt = timestamppb.Now()
	result := &workv1.ScrapeResult{Page: reading.Page}
	if int64(len(reading.Body)) <= r.cfg.RawBytes {
		result.Raw = r.zstd.EncodeAll(reading.Body, nil)
	}
	return result, nil
}

// check refuses addresses before they are requested, and those of redirects.
func (r *Reader) check(u *url.URL) error {
	err := r.guard.CheckURL(u)
	if err != nil {
		return err
	}
	return polite.Domains{Only: r.cfg.AllowDomains, Never: r.cfg.DenyDomains}.Check(u)
}

// robotsBytes is how much of a robots.txt is read: what RFC 9309 asks for at least.
const robotsBytes = 500 << 10

func (r *Reader) fetchRobots(ctx context.Context, address string) (int, []byte, error) {
	answer, err := r.robots.Get(ctx, address)
	if err != nil {
		return 0, nil, err
	}
	return answer.Status, answer.Body, nil
}

// Extract makes the page of a document that was fetched elsewhere.
func Extract(body []byte, address, contentType string) (*workv1.Page, error) {
	if contentType == "" {
		contentType = fetch.Sniff(body)
	}
	page, err := extract.Page(extract.Document{URL: address, FinalURL: address, ContentType: contentType, Body: body})
	if err != nil {
		return nil, err
	}
	page.FinalUrl, page.FetchedAt = address, timestamppb.New(time.Now())
	return page, nil
}
