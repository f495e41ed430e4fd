package chrome

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fathom-research/fathom/services/scraper/internal/guard"
	"github.com/fathom-research/fathom/services/scraper/internal/proxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestScriptsFillThePage(t *testing.T) {
	t.Parallel()
	site := serve(t, `<div id=root></div><script>
		setTimeout(() => fetch('/data').then(r => r.text()).then(t => document.getElementById('root').textContent = t), 300)</script>`,
		map[string]string{"/data": "The lighthouse was built in 1871."})
	answer, err := newChrome(t, nil, site).Get(t.Context(), site+"/")
	require.NoError(t, err)
	require.Contains(t, string(answer.Body), "built in 1871")
	require.Equal(t, site+"/", answer.FinalURL)
	require.Equal(t, 200, answer.Status)
}

func serve(t *testing.T, front string, more map[string]string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, found := more[r.URL.Path]
		switch {
		case found:
			_, _ = io.WriteString(w, body)
		case r.URL.Path == "/":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<!doctype html><meta charset=utf-8>"+front)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// newChrome starts a Chrome whose proxy lets only the given sites through.
func newChrome(t testing.TB, change func(*Options), sites ...string) *Chrome {
	t.Helper()
	path, err := Locate("")
	require.NoError(t, err)
	opts := Options{
		Path: path, Proxy: startProxy(t, sites), UserAgent: "Mozilla/5.0 (compatible; Fathom/1.0)", Language: "en-US,en;q=0.9",
		Sandbox: "auto", Tabs: 4, Timeout: 20 * time.Second, MaxBytes: 10 << 20, RecyclePages: 100,
		Memory: 4 << 30, PageMemory: 512 << 20, Logger: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&opts)
	}
	c := New(opts)
	t.Cleanup(c.Close)
	return c
}

func startProxy(t testing.TB, sites []string) *url.URL {
	t.Helper()
	var hosts []string
	for _, site := range sites {
		u, err := url.Parse(site)
		require.NoError(t, err)
		hosts = append(hosts, u.Host)
	}
	rules, err := guard.New(guard.Options{Allow: hosts})
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	p := proxy.New(proxy.Options{Dial: rules.DialContext, MaxBytes: 64 << 20, Logger: slog.New(slog.DiscardHandler)})
	go func() { ended <- p.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	return &url.URL{Scheme: "http", Host: listener.Addr().String()}
}
