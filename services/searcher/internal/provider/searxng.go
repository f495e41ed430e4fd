// Package provider asks search engines.
package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/searcher/internal/normalize"
)

// Query is what is searched for.
type Query struct {
	Text       string
	Language   string
	TimeRange  string
	Categories []string
	SafeSearch int32
	// Limit is the most hits that are wanted.
	Limit int
}

// Answer is what was found. No hits are an answer too.
type Answer struct {
	Hits []*workv1.Hit
	// Unresponsive names the engines that did not answer, with their reason.
	Unresponsive []string
}

// Gate holds the rate limit of the engine's host, over all pods.
type Gate interface {
	// Enter waits for a place and returns the function that gives it back, or a
	// *fault.Deferral when there is none for now.
	Enter(ctx context.Context) (release func(), err error)
	// Penalize closes the gate until then.
	Penalize(ctx context.Context, until time.Time) error
}

// Options configure a SearXNG.
type Options struct {
	// Base is the instance's address; a path before /search is kept.
	Base *url.URL
	// Timeout bounds one request.
	Timeout time.Duration
	// Pages bounds the result pages that one search reads.
	Pages int
	Gate  Gate
}

// SearXNG is a client of SearXNG's JSON API. It is safe for concurrent use.
type SearXNG struct {
	base    *url.URL
	timeout time.Duration
	pages   int
	gate    Gate
	client  *http.Client
}

// NewSearXNG makes a client. It does not connect yet.
func NewSearXNG(options Options) *SearXNG {
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     time.Minute,
		ForceAttemptHTTP2:   true,
	}
	return &SearXNG{
		base:    options.Base,
		timeout: options.Timeout,
		pages:   options.Pages,
		gate:    options.Gate,
		client:  &http.Client{Transport: transport, CheckRedirect: sameHost},
	}
}

// Close lets go of idle connections.
func (s *SearXNG) Close() { s.client.CloseIdleConnections() }

// Search reads result pages until the limit is full, a page brings nothing new, or
// the bound of pages is reached. What the first pages brought is not lost when a
// later one can't be read. Errors are *fault.Error or *fault.Deferral.
func (s *SearXNG) Search(ctx context.Context, query Query) (*Answer, error) {
	text := plain(query.Text)
	if text == "" {
		return nil, errNoQuery()
	}
	hits := normalize.NewHits(query.Limit)
	var silent []string
	for number := 1; number <= s.pages && !hits.Full(); number++ {
		page, err := s.page(ctx, text, query, number)
		if err != nil && len(hits.All()) == 0 {
			return nil, err
		}
		if err != nil {
			silent = append(silent, fmt.Sprintf("page %d: %v", number, err))
			break
		}
		silent = union(silent, page.silent)
		if addAll(hits, page.hits) == 0 {
			break
		}
	}
	if len(hits.All()) == 0 && len(silent) > 0 {
		err := s.judgeSilence(ctx, query.Categories, silent)
		if err != nil {
			return nil, err
		}
	}
	return &Answer{Hits: hits.All(), Unresponsive: silent}, nil
}

func addAll(hits *normalize.Hits, found []*workv1.Hit) int {
	added := 0
	for _, hit := range found {
		if hits.Add(hit) {
			added++
		}
	}
	return added
}

const maxRedirects = 3

var errRedirect = errors.New("redirects to another host or too often")

// sameHost follows a redirect to https or to another path, never to another host:
// the address that was configured is the only one that may be asked.
func sameHost(next *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects || next.URL.Hostname() != via[0].URL.Hostname() {
		return errRedirect
	}
	return nil
}
