package scraper_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/config"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/scraper"
	"github.com/fathom-research/fathom/testkit/bustest"
)

const article = `<!doctype html><html lang="en"><head><title>The lighthouse</title></head><body><main><article><h1>The lighthouse</h1>
<p>The lighthouse on the northern cape was built in 1871 by the harbour board, after three ships had been lost there in one winter.</p>
<p>Its lamp burned rape oil until 1894, when the keepers changed to paraffin, and the light could be seen from eighteen nautical miles.</p>
<h2>The keepers</h2><p>Two families lived on the cape at any time. They kept a log of the weather that is still read by people who study the climate of the coast.</p>
<p>The last keeper left in 1978, when the lamp was made automatic and the houses were sold to the parish.</p></article></main></body></html>`

// A task goes over the bus, and the page comes back.
func TestTaskBecomesResult(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	b := bustest.Open(t)
	service := newService(t, b, map[string]string{"FATHOM_SCRAPER_MODE": "http", "FATHOM_SCRAPER_ALLOW": site.host})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	results := make(chan *workv1.Result, 1)
	go func() { ended <- service.Run(ctx) }()
	go func() {
		ended <- b.Results(ctx, 1, func(_ context.Context, result *workv1.Result) error {
			results <- result
			return nil
		})
	}()
	require.NoError(t, b.PublishTask(ctx, task(site.url+"/article")))
	result := <-results
	cancel()
	require.NoError(t, <-ended)
	require.NoError(t, <-ended)

	require.Nil(t, result.GetFailure())
	page := result.GetScrape().GetPage()
	require.Contains(t, page.GetText(), "built in 1871")
	require.Equal(t, "The lighthouse", page.GetTitle())
	require.Equal(t, site.url+"/article", page.GetFinalUrl())
	require.Equal(t, "http", page.GetRung())
	require.Empty(t, page.GetRungReason())
	require.Equal(t, "text/html", page.GetContentType())
	require.NotEmpty(t, page.GetContentHash())
	require.NotNil(t, page.GetFetchedAt())
	decoder, err := zstd.NewReader(nil)
	require.NoError(t, err)
	defer decoder.Close()
	raw, err := decoder.DecodeAll(result.GetScrape().GetRaw(), nil)
	require.NoError(t, err)
	require.Equal(t, article, string(raw))
}

func TestFailuresHaveTheirReason(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	service := newService(t, bustest.Open(t), map[string]string{
		"FATHOM_SCRAPER_MODE": "http", "FATHOM_SCRAPER_ALLOW": site.host, "FATHOM_SCRAPER_DENY_DOMAINS": "bad.example",
	})
	for address, want := range map[string]fault.Code{
		site.url + "/missing":                fault.NotFound,
		site.url + "/status/403":             fault.Blocked,
		site.url + "/status/429":             fault.RateLimited,
		site.url + "/status/503":             fault.Unavailable,
		site.url + "/forbidden/page":         fault.Robots,
		site.url + "/loop":                   fault.Unavailable,
		site.url + "/picture":                fault.Unreadable,
		site.url + "/to?http://127.0.0.1:1/": fault.RefusedAddress,
		site.url + "/to?file:///etc/passwd":  fault.RefusedAddress,
		site.url + "/to?http://[::1]/":       fault.RefusedAddress,
		"http://169.254.169.254/latest/":     fault.RefusedAddress,
		"ftp://example.org/a":                fault.RefusedAddress,
		"https://www.bad.example/":           fault.RefusedAddress,
		"http://[::1":                        fault.RefusedAddress,
		"":                                   fault.RefusedAddress,
	} {
		_, err := service.Handle(t.Context(), task(address))
		require.Error(t, err, address)
		require.Equal(t, want, fault.As(err).Code, "%s: %v", address, err)
	}
}

// A page that only JavaScript fills is read, and why Chrome was asked is known.
func TestPageOfScriptsIsReadInChrome(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	service := newService(t, bustest.Open(t), map[string]string{"FATHOM_SCRAPER_ALLOW": site.host})
	result, err := service.Handle(t.Context(), task(site.url+"/shell"))
	require.NoError(t, err)
	page := result.GetScrape().GetPage()
	require.Contains(t, page.GetText(), "built in 1871")
	require.Equal(t, "chrome", page.GetRung())
	require.Equal(t, "only 0 letters without scripts", page.GetRungReason())
	require.Equal(t, site.url+"/shell", page.GetFinalUrl())

	result, err = service.Handle(t.Context(), task(site.url+"/article"))
	require.NoError(t, err)
	require.Equal(t, "http", result.GetScrape().GetPage().GetRung())
}

// Private addresses are refused by both rungs, and the reason is said.
func TestChromeRefusesAddressesToo(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	private := newSite(t)
	service := newService(t, bustest.Open(t), map[string]string{"FATHOM_SCRAPER_MODE": "chrome", "FATHOM_SCRAPER_ROBOTS": "false", "FATHOM_SCRAPER_ALLOW": site.host})
	for _, address := range []string{
		private.url + "/article", site.url + "/to?" + private.url + "/article", site.url + "/to?http://localhost/", "https://localhost/", "http://127.1/",
		"http://[::ffff:127.0.0.1]/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://[2001:0:7f00:1::1]/", "file:///etc/passwd",
	} {
		_, err := service.Handle(t.Context(), task(address))
		require.Error(t, err, address)
		require.Equal(t, fault.RefusedAddress, fault.As(err).Code, "%s: %v", address, err)
	}
	require.Zero(t, private.requests.Load())
}

// Retry-After of one answer is obeyed by every pod: a second service on the same
// bus does not ask the site.
func TestRetryAfterIsShared(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	b := bustest.Open(t)
	// A block of addresses is allowed, and no name: the site is spaced like any other.
	environment := map[string]string{
		"FATHOM_SCRAPER_MODE": "http", "FATHOM_SCRAPER_ROBOTS": "false", "FATHOM_SCRAPER_ALLOW": "127.0.0.0/8:" + site.port,
	}
	first, second := newService(t, b, environment), newService(t, b, environment)
	address := "http://localhost:" + site.port
	_, err := first.Handle(t.Context(), task(address+"/status/429"))
	require.Equal(t, fault.RateLimited, fault.As(err).Code)
	require.Equal(t, time.Minute, fault.As(err).RetryAfter)

	_, err = second.Handle(t.Context(), task(address+"/article"))
	var deferral *fault.Deferral
	require.ErrorAs(t, err, &deferral)
	require.WithinDuration(t, time.Now().Add(time.Minute), deferral.Until, 10*time.Second)
}

func TestRobotsAreAskedOnce(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	service := newService(t, bustest.Open(t), map[string]string{"FATHOM_SCRAPER_MODE": "http", "FATHOM_SCRAPER_ALLOW": site.host})
	for range 3 {
		_, err := service.Handle(t.Context(), task(site.url+"/article"))
		require.NoError(t, err)
	}
	require.EqualValues(t, 1, site.robots.Load())
}

func TestConfigurationNamesEveryMistake(t *testing.T) {
	t.Parallel()
	var cfg scraper.Config
	err := config.LoadFrom(&cfg, map[string]string{
		"FATHOM_SCRAPER_MODE": "fast", "FATHOM_SCRAPER_ALLOW": "nohost", "FATHOM_SCRAPER_DENY": "example.org",
		"FATHOM_SCRAPER_SANDBOX": "maybe", "FATHOM_SCRAPER_MAX_BYTES": "0", "FATHOM_SCRAPER_PROXY": "socks5://a:1",
	})
	for _, name := range []string{"MODE", "ALLOW", "DENY", "SANDBOX", "MAX_BYTES", "PROXY"} {
		require.ErrorContains(t, err, "FATHOM_SCRAPER_"+name)
	}
	require.NoError(t, config.LoadFrom(new(scraper.Config), nil))
}

type site struct {
	url, host, port string
	robots          atomic.Int32
	requests        atomic.Int32
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	u, err := url.Parse(server.URL)
	require.NoError(t, err)
	s.url, s.host, s.port = server.URL, u.Host, u.Port()
	return s
}

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	switch {
	case r.URL.Path == "/robots.txt":
		s.robots.Add(1)
		_, _ = io.WriteString(w, "User-agent: fathom\nDisallow: /forbidden")
	case r.URL.Path == "/article":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, article)
	case r.URL.Path == "/shell":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w, "<!doctype html><title>App</title><div id=root></div><script>setTimeout(() => document.getElementById('root').innerHTML = %q, 200)</script>", article)
	case r.URL.Path == "/loop":
		http.Redirect(w, r, "/loop", http.StatusFound)
	case r.URL.Path == "/to":
		w.Header().Set("Location", r.URL.RawQuery)
		w.WriteHeader(http.StatusFound)
	case r.URL.Path == "/picture":
		w.Header().Set("Content-Type", "image/png")
	case strings.HasPrefix(r.URL.Path, "/status/"):
		var status int
		_, _ = fmt.Sscanf(r.URL.Path, "/status/%d", &status)
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(status)
	default:
		http.NotFound(w, r)
	}
}

func newService(t *testing.T, b *bus.Bus, environment map[string]string) *scraper.Service {
	t.Helper()
	var cfg scraper.Config
	require.NoError(t, config.LoadFrom(&cfg, environment))
	service, err := scraper.New(cfg, scraper.Deps{Bus: b, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = service.Close() })
	return service
}

func task(address string) *workv1.Task {
	return &workv1.Task{
		ResearchId: "00000000-0000-0000-0000-000000000001", TaskId: "00000000-0000-0000-0000-000000000002", Tenant: "default",
		TimeLimit: durationpb.New(30 * time.Second),
		Payload:   &workv1.Task_Scrape{Scrape: &workv1.ScrapeTask{Url: address}},
	}
}
