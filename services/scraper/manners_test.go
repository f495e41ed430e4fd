package scraper_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/fault"
	"github.com/fathom-research/fathom/testkit/bustest"
)

// Four pods want twelve pages of one site: no more than two are read at once, and no
// two begin within the gap.
func TestLimitsHoldOverAllPods(t *testing.T) {
	t.Parallel()
	const gap = 150 * time.Millisecond
	var mu sync.Mutex
	var begun []time.Time
	running, most := 0, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		begun = append(begun, time.Now())
		running++
		most = max(most, running)
		mu.Unlock()
		// Longer than the gap, so that pages would overlap without a bound.
		<-time.After(4 * gap)
		mu.Lock()
		running--
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, article)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	u, err := url.Parse(server.URL)
	require.NoError(t, err)
	b := bustest.Open(t)
	// A block of addresses is allowed, and no name: the site is spaced like any other.
	environment := map[string]string{
		"FATHOM_SCRAPER_MODE": "http", "FATHOM_SCRAPER_ROBOTS": "false", "FATHOM_SCRAPER_GAP": gap.String(),
		"FATHOM_SCRAPER_ALLOW": "127.0.0.0/8:" + u.Port(),
	}
	var pods sync.WaitGroup
	for range 4 {
		pod := newService(t, b, environment)
		for range 3 {
			pods.Go(func() {
				o := readOne(t.Context(), pod, "http://localhost:"+u.Port()+"/", 1)
				require.Equal(t, fault.OK, o.code, o.err)
			})
		}
	}
	pods.Wait()
	require.Len(t, begun, 12)
	require.Equal(t, 2, most)
	for i := 1; i < len(begun); i++ {
		// The request leaves a little after its place was given.
		require.GreaterOrEqual(t, begun[i].Sub(begun[i-1]), gap/2, "between pages %d and %d", i-1, i)
	}
	require.GreaterOrEqual(t, begun[11].Sub(begun[0]), 11*gap-gap/2)
}

// A place that is not free soon is no failure of the page: the task comes again.
func TestCrawlDelayOfRobotsIsKept(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			_, _ = io.WriteString(w, "User-agent: *\nCrawl-delay: 30")
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, article)
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	require.NoError(t, err)
	service := newService(t, bustest.Open(t), map[string]string{"FATHOM_SCRAPER_MODE": "http", "FATHOM_SCRAPER_ALLOW": "127.0.0.0/8:" + u.Port()})
	address := "http://localhost:" + u.Port()
	_, err = service.Handle(t.Context(), task(address+"/1"))
	require.NoError(t, err)
	_, err = service.Handle(t.Context(), task(address+"/2"))
	var deferral *fault.Deferral
	require.True(t, errors.As(err, &deferral), err)
	// Ten seconds are the most that is left between two pages, and a task that comes
	// again is given one such time more.
	require.Greater(t, time.Until(deferral.Until), 8*time.Second)
	require.Less(t, time.Until(deferral.Until), 25*time.Second)
}

// Both rungs say who they are, in the same words, and what a browser says besides.
func TestHeadersAreThoseOfAnHonestBrowser(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := make(map[string]http.Header)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen[r.URL.Path] = r.Header.Clone()
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, article)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	u, err := url.Parse(server.URL)
	require.NoError(t, err)
	const agent = "Mozilla/5.0 (compatible; Surveyor/2.0; +https://example.org/crawler)"
	for _, mode := range []string{"http", "chrome"} {
		service := newService(t, bustest.Open(t), map[string]string{
			"FATHOM_SCRAPER_MODE": mode, "FATHOM_SCRAPER_ROBOTS": "false", "FATHOM_SCRAPER_ALLOW": u.Host,
			"FATHOM_SCRAPER_USER_AGENT": agent, "FATHOM_SCRAPER_LANGUAGE": "de-DE,de;q=0.9",
		})
		_, err := service.Handle(t.Context(), task(server.URL+"/"+mode))
		require.NoError(t, err)
		header := seen["/"+mode]
		require.Equal(t, agent, header.Get("User-Agent"), mode)
		require.Contains(t, header.Get("Accept"), "text/html", mode)
		require.Contains(t, header.Get("Accept-Language"), "de-DE", mode)
		require.Contains(t, header.Get("Accept-Encoding"), "br", mode)
		require.Equal(t, "1", header.Get("Upgrade-Insecure-Requests"), mode)
		require.Empty(t, header.Get("Cookie"), mode)
		require.Empty(t, header.Get("Referer"), mode)
	}
}
