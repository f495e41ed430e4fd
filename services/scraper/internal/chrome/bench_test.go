package chrome

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// BenchmarkChrome reads pages that scripts fill, and BenchmarkBare only navigates to
// the same pages and takes their outerHTML, with the same browser, switches, proxy,
// isolation and number of tabs.
func BenchmarkChrome(b *testing.B) {
	site := newScriptedSite(b)
	c := newChrome(b, func(o *Options) { o.Tabs, o.RecyclePages = benchTabs, 1e6 }, site)
	_, err := c.Get(b.Context(), site+"/")
	require.NoError(b, err)
	perSecond(b, func() error {
		answer, err := c.Get(b.Context(), site+"/")
		if err == nil && !strings.Contains(string(answer.Body), "paragraph 39") {
			return fmt.Errorf("the page is not whole: %d bytes", len(answer.Body))
		}
		return err
	})
}

func BenchmarkBare(b *testing.B) {
	site := newScriptedSite(b)
	var opts Options
	c := newChrome(b, func(o *Options) { opts = *o }, site)
	c.Close()
	p, err := start(opts)
	require.NoError(b, err)
	defer p.close()
	perSecond(b, func() error {
		tab, cancel := chromedp.NewContext(p.ctx, chromedp.WithNewBrowserContext())
		defer cancel()
		err := chromedp.Do(tab)
		if err != nil {
			return err
		}
		ctx, done := context.WithTimeout(tab, opts.Timeout)
		defer done()
		err = chromedp.Do(ctx, chromedp.Navigate(site+"/"))
		if err != nil {
			return err
		}
		_, err = chromedp.Run(ctx, chromedp.Evaluate[string]("document.documentElement.outerHTML"))
		return err
	})
}

const benchTabs = 8

func perSecond(b *testing.B, read func() error) {
	b.SetParallelism(benchTabs / 2)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			err := read()
			if err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pages/s")
}

func newScriptedSite(b *testing.B) string {
	b.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, `<!doctype html><title>A page</title><link rel=stylesheet href=/style.css><img src=/picture.png>
<nav>`+strings.Repeat("<a href=/x>A link</a> ", 30)+`</nav><main id=root></main><script src=/app.js></script>`)
		case "/app.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = io.WriteString(w, `fetch('/data').then(r => r.json()).then(list => {
  for (const text of list) { const p = document.createElement('p'); p.textContent = text; document.getElementById('root').append(p); }
});`)
		case "/data":
			w.Header().Set("Content-Type", "application/json")
			var list []string
			for i := range 40 {
				list = append(list, fmt.Sprintf(`"This is paragraph %d of a page that its scripts fill, and it is as long as paragraphs are: %s"`, i, strings.Repeat("some more words, ", 20)))
			}
			_, _ = io.WriteString(w, "["+strings.Join(list, ",")+"]")
		case "/style.css":
			w.Header().Set("Content-Type", "text/css")
			_, _ = io.WriteString(w, "p { margin: 1em } nav { display: flex }")
		default:
			http.NotFound(w, r)
		}
	}))
	b.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}
