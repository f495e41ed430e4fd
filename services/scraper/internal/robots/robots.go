// Package robots asks sites which of their pages a crawler may read, as RFC 9309
// has it.
package robots

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/fathom-research/fathom/platform/fault"
)

const (
	// keep is the longest that RFC 9309 lets a file be cached.
	keep = 24 * time.Hour
	// keepFailure is short: a site whose file can't be read now is closed to us for
	// a while, not for a day.
	keepFailure = 5 * time.Minute
	// maxSites bounds the memory of the cache.
	maxSites = 4096
	// maxDelay is the longest Crawl-delay that is obeyed.
	maxDelay     = 10 * time.Second
	fetchTimeout = 10 * time.Second
)

// Fetch requests a robots.txt, following redirects, and returns its status and as
// much of its body as is read of such files. An error means that there was no answer.
type Fetch func(ctx context.Context, address string) (status int, body []byte, err error)

// Checker knows the rules of sites, each for a day. It is safe for concurrent use.
type Checker struct {
	fetch Fetch
	agent string
	now   func() time.Time

	flights singleflight.Group
	mu      sync.Mutex
	sites   map[string]site
}

type site struct {
	rules   *rules
	expires time.Time
}

// New makes a Checker for the crawler that calls itself agent.
func New(agent string, fetch Fetch) *Checker {
	return &Checker{fetch: fetch, agent: agent, now: time.Now, sites: make(map[string]site)}
}

// Check reports how long the site asks to wait between two pages, or a
// *fault.Error when it does not let u be read. The first look at a site requests
// its robots.txt; those that come meanwhile wait for that one request.
func (c *Checker) Check(ctx context.Context, u *url.URL) (time.Duration, error) {
	origin := u.Scheme + "://" + u.Host
	rules := c.cached(origin)
	if rules == nil {
		fresh, err := c.load(ctx, origin)
		if err != nil {
			return 0, err
		}
		rules = fresh
	}
	if rules.failure != nil {
		return 0, rules.failure
	}
	if !rules.allows(pathOf(u)) {
		return 0, fault.Permanent(fault.Robots, "robots.txt of %s does not let %s read this page", u.Host, c.agent)
	}
	return rules.delay, nil
}

func (c *Checker) load(ctx context.Context, origin string) (*rules, error) {
	flight := c.flights.DoChan(origin, func() (any, error) {
		// The request is shared, so it does not end with whoever came first.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
		defer cancel()
		rules, lifetime := c.request(ctx, origin)
		c.store(origin, site{rules: rules, expires: c.now().Add(lifetime)})
		return rules, nil
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case result := <-flight:
		return result.Val.(*rules), result.Err
	}
}

// request never fails: no answer is an answer too, and closes the site.
func (c *Checker) request(ctx context.Context, origin string) (*rules, time.Duration) {
	status, body, err := c.fetch(ctx, origin+"/robots.txt")
	var known *fault.Error
	switch {
	case errors.As(err, &known) && !known.Retryable:
		// There is no such host, or it is refused: the page itself would fail the same way.
		return &rules{failure: known}, keepFailure
	case err != nil:
		return &rules{failure: fault.Transient(fault.Unavailable, "robots.txt can't be read: %w", err)}, keepFailure
	case status/100 == 5:
		return &rules{failure: fault.Transient(fault.Robots, "robots.txt answered %d, which closes the site until it can be read", status)}, keepFailure
	case status/100 == 2:
		return parse(body, c.agent), keep
	default:
		return &rules{}, keep
	}
}

func (c *Checker) cached(origin string) *rules {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, found := c.sites[origin]
	if !found || c.now().After(known.expires) {
		return nil
	}
	return known.rules
}

func (c *Checker) store(origin string, fresh site) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.sites) >= maxSites {
		c.evict()
	}
	c.sites[origin] = fresh
}

// evict makes room by dropping what has expired, or else whatever comes first: a
// dropped site is only asked again.
func (c *Checker) evict() {
	now := c.now()
	for origin, known := range c.sites {
		if now.After(known.expires) {
			delete(c.sites, origin)
		}
	}
	for origin := range c.sites {
		if len(c.sites) < maxSites {
			return
		}
		delete(c.sites, origin)
	}
}

// pathOf is what rules are matched with: the path and the query as they are sent.
func pathOf(u *url.URL) string {
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return path
}
