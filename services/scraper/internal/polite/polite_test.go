package polite

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
)

type recorder struct {
	taken     []bus.Limit
	penalized map[string]time.Time
}

func (r *recorder) Take(_ context.Context, limit bus.Limit) (func(), error) {
	r.taken = append(r.taken, limit)
	return func() {}, nil
}

func (r *recorder) Penalize(_ context.Context, key string, until time.Time) error {
	r.penalized[key] = until
	return nil
}

func TestSitesAreRegistrableDomains(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://www.example.co.uk/a":      "example.co.uk",
		"https://EXAMPLE.org.:8443/":       "example.org",
		"https://someone.github.io/":       "someone.github.io",
		"http://192.0.2.1/a":               "192.0.2.1:80",
		"http://[2001:db8::1]:8080/a":      "[2001:db8::1]:8080",
		"http://intranet/a":                "intranet",
		"https://deep.sub.example.com/a?b": "example.com",
	} {
		require.Equal(t, want, Site(parse(t, address)), address)
	}
}

func TestLongerDelayWinsAndOwnHostsAreFree(t *testing.T) {
	t.Parallel()
	limiter := &recorder{penalized: make(map[string]time.Time)}
	sites := New(limiter, Options{
		Concurrent: 2, Gap: time.Second, Hold: time.Minute, Wait: 2 * time.Second,
		Own: func(authority string) bool { return authority == "wiki.example:8080" },
	})
	for _, delay := range []time.Duration{0, 5 * time.Second} {
		leave, err := sites.Enter(t.Context(), parse(t, "https://www.example.org/"), delay)
		require.NoError(t, err)
		leave()
	}
	_, err := sites.Enter(t.Context(), parse(t, "http://wiki.example:8080/"), 5*time.Second)
	require.NoError(t, err)

	limit := bus.Limit{Key: "host:example.org", Concurrent: 2, Gap: time.Second, Hold: time.Minute, Wait: 2 * time.Second}
	slower := limit
	slower.Gap = 5 * time.Second
	require.Equal(t, []bus.Limit{limit, slower}, limiter.taken)
}

func TestRetryAfterKeepsEveryPodAway(t *testing.T) {
	t.Parallel()
	limiter := &recorder{penalized: make(map[string]time.Time)}
	sites := New(limiter, Options{Own: func(string) bool { return false }})
	u := parse(t, "https://www.example.org/")
	require.NoError(t, sites.Obey(t.Context(), u, fault.Transient(fault.RateLimited, "slow down").After(time.Minute)))
	require.WithinDuration(t, time.Now().Add(time.Minute), limiter.penalized["host:example.org"], 10*time.Second)
	require.NoError(t, sites.Obey(t.Context(), u, fault.Transient(fault.Unavailable, "no wait named")))
	require.Len(t, limiter.penalized, 1)
}

func TestDomainLists(t *testing.T) {
	t.Parallel()
	lists := Domains{Only: []string{"example.org", "example.com"}, Never: []string{".bad.example.org"}}
	require.NoError(t, lists.Check(parse(t, "https://www.example.org/")))
	require.NoError(t, lists.Check(parse(t, "https://EXAMPLE.com./")))
	require.Error(t, lists.Check(parse(t, "https://bad.example.org/")))
	require.Error(t, lists.Check(parse(t, "https://very.bad.example.org/")))
	require.Error(t, lists.Check(parse(t, "https://notexample.com/")))
	require.NoError(t, Domains{}.Check(parse(t, "https://anything.example/")))
}

func parse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	return u
}
