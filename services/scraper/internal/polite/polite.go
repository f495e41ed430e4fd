// Package polite spaces the requests to one site, over all pods, and knows which
// domains the operator wants read at all.
package polite

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
)

// Limiter gives out places that all pods share; *bus.Bus is one.
type Limiter interface {
	Take(ctx context.Context, limit bus.Limit) (release func(), err error)
	Penalize(ctx context.Context, key string, until time.Time) error
}

// Options say how hard one site may be asked.
type Options struct {
	// Concurrent is the most pages of a site read at once; 0 is no bound.
	Concurrent int
	// Gap is the shortest time between two requests to a site.
	Gap time.Duration
	// Hold is the longest that reading one page takes.
	Hold time.Duration
	// Wait is how long to wait for a place before the task is deferred.
	Wait time.Duration
	// Own reports whether host:port was let in by name: such hosts are the
	// operator's, and are not spaced.
	Own func(authority string) bool
}

// Sites spaces requests by site.
type Sites struct {
	limiter Limiter
	opts    Options
}

// New makes a Sites on a limiter.
func New(limiter Limiter, opts Options) *Sites { return &Sites{limiter: limiter, opts: opts} }

// Enter waits for a place at the site of u, where delay is what its robots.txt asks
// for, and returns the function that leaves it. It returns a *fault.Deferral when there is none soon.
func (s *Sites) Enter(ctx context.Context, u *url.URL, delay time.Duration) (func(), error) {
	if s.opts.Own(authority(u)) {
		return func() {}, nil
	}
	return s.limiter.Take(ctx, bus.Limit{
		Key:        key(u),
		Concurrent: s.opts.Concurrent,
		Gap:        max(s.opts.Gap, delay),
		Hold:       s.opts.Hold,
		Wait:       s.opts.Wait,
	})
}

// Obey keeps every pod away from the site of u for as long as its answer asked.
func (s *Sites) Obey(ctx context.Context, u *url.URL, failure error) error {
	wait := fault.As(failure).RetryAfter
	if wait <= 0 || s.opts.Own(authority(u)) {
		return nil
	}
	return s.limiter.Penalize(ctx, key(u), time.Now().Add(wait))
}

func key(u *url.URL) string { return "host:" + Site(u) }

// Site is what is spaced together: the registrable domain of a name, and an address
// with its port.
func Site(u *url.URL) string {
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	_, err := netip.ParseAddr(host)
	if err == nil {
		return authority(u)
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return host
	}
	return domain
}

func authority(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), port)
}
