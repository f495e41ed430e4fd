package chrome

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
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

// Text that shows itself only in view, after animation frames, in shadow trees and
// in frames of the same site is there; what nobody sees is not.
func TestWhatAPersonSees(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("<p>Some visible text of the page, a whole line of it.</p>", 40)
	site := serve(t, `<title>Seen</title><body style="color: black; background: white">`+filler+`<h1>seen heading</h1>
<div style="height: 9000px"></div><div id=lazy></div><div id=scrolled></div><div id=size></div><div id=drawn></div><my-card></my-card><iframe srcdoc="<p>`+strings.Repeat("seen in a frame ", 30)+`"></iframe>
<details><summary>More</summary><p>seen when unfolded</p></details><button aria-controls=panel>Tab</button><div id=panel style="display: none">seen in a panel</div>
<p style="display: none">unseen one</p><p style="visibility: hidden">unseen two</p><p style="opacity: 0">unseen three</p><p style="font-size: 0">unseen four</p>
<p style="position: absolute; left: -9999px">unseen five</p><p style="color: white">unseen six</p><p style="color: transparent">unseen seven</p>
<div style="background: #222"><p style="color: #eee">seen on dark ground</p><p style="color: #222">unseen eight</p></div>
<div id=onetrust-consent-sdk><p>unseen cookies</p></div><div style="position: fixed; bottom: 0">We value your privacy and use cookies, unseen nine <button>OK</button></div>
<script>
new IntersectionObserver((seen, self) => { if (seen[0].isIntersecting) { self.disconnect(); lazy.textContent = 'seen after scrolling' } }).observe(lazy);
addEventListener('scroll', () => { if (scrollY > 5000) scrolled.textContent = 'seen far below' });
size.textContent = 'seen at ' + (innerWidth > 1000 && innerHeight > 600 ? document.visibilityState : innerWidth + 'x' + innerHeight);
let n = 0; const step = () => ++n < 5 ? requestAnimationFrame(step) : drawn.textContent = 'seen after frames'; requestAnimationFrame(step);
customElements.define('my-card', class extends HTMLElement { constructor() { super(); this.attachShadow({mode: 'open'}).innerHTML = '<p>seen in a shadow tree</p>' } });
</script>`, nil)
	answer, err := newChrome(t, nil, site).Get(t.Context(), site+"/")
	require.NoError(t, err)
	body := string(answer.Body)
	for _, seen := range []string{"heading", "after scrolling", "after frames", "in a shadow tree", "in a frame", "when unfolded", "in a panel", "on dark ground", "far below", "at visible"} {
		require.Contains(t, body, ">seen "+seen)
	}
	_, text, _ := strings.Cut(body, "</script>")
	for _, hidden := range []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "cookies"} {
		require.NotContains(t, body, "unseen "+hidden, text)
	}
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
	path, err := Locate(os.Getenv("FATHOM_CHROME_PATH"))
	require.NoError(t, err)
	opts := Options{
		Path: path, Proxy: startProxy(t, guard.Options{Allow: hostsOf(t, sites)}), UserAgent: "Mozilla/5.0 (compatible; Fathom/1.0)", Language: "en-US,en;q=0.9",
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

func hostsOf(t testing.TB, sites []string) []string {
	t.Helper()
	hosts := make([]string, len(sites))
	for i, site := range sites {
		u, err := url.Parse(site)
		require.NoError(t, err)
		hosts[i] = u.Host
	}
	return hosts
}

func startProxy(t testing.TB, allowed guard.Options) *url.URL {
	t.Helper()
	rules, err := guard.New(allowed)
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
