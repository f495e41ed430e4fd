package chrome

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// BenchmarkChrome reads a page whose text its scripts fetch, and one whose text is
// there at once. BenchmarkBare only navigates to the same pages and takes their
// outerHTML, with the same browser, switches, proxy, isolation and number of tabs: of
// the scripted one it gets the shell. BenchmarkWaiting does the same, but waits for the text.
func BenchmarkChrome(b *testing.B) {
	eachKind(b, func(b *testing.B, address string, c *Chrome, _ Options) {
		_, err := c.Get(b.Context(), address)
		require.NoError(b, err)
		perSecond(b, c.current.pid, func() error {
			answer, err := c.Get(b.Context(), address)
			if err == nil && !strings.Contains(string(answer.Body), "paragraph 39") {
				return fmt.Errorf("the page is not whole: %d bytes", len(answer.Body))
			}
			return err
		})
	})
}

func BenchmarkBare(b *testing.B) {
	benchmarkLoop(b, func(context.Context) error { return nil })
}

func BenchmarkWaiting(b *testing.B) {
	benchmarkLoop(b, func(ctx context.Context) error { return chromedp.Do(ctx, chromedp.WaitReady("main p:nth-of-type(40)")) })
}

func benchmarkLoop(b *testing.B, wait func(ctx context.Context) error) {
	b.Helper()
	eachKind(b, func(b *testing.B, address string, _ *Chrome, opts Options) {
		p, err := start(opts)
		require.NoError(b, err)
		defer p.close()
		perSecond(b, p.pid, func() error {
			tab, cancel := chromedp.NewContext(p.ctx, chromedp.WithNewBrowserContext())
			defer cancel()
			err := chromedp.Do(tab)
			if err != nil {
				return err
			}
			ctx, done := context.WithTimeout(tab, opts.Timeout)
			defer done()
			err = chromedp.Do(ctx, chromedp.Navigate(address))
			if err != nil {
				return err
			}
			err = wait(ctx)
			if err != nil {
				return err
			}
			_, err = chromedp.Run(ctx, chromedp.Evaluate[string]("document.documentElement.outerHTML"))
			return err
		})
	})
}

func eachKind(b *testing.B, run func(b *testing.B, address string, c *Chrome, opts Options)) {
	b.Helper()
	site := newScriptedSite(b)
	for _, kind := range []string{"scripted", "static"} {
		b.Run(kind, func(b *testing.B) {
			var opts Options
			c := newChrome(b, func(o *Options) {
				// Time for a machine that has other work.
				o.Tabs, o.RecyclePages, o.Timeout = benchTabs, 1e6, time.Minute
				opts = *o
			}, site)
			run(b, site+"/"+kind, c, opts)
		})
	}
}

const benchTabs = 8

// perSecond reads pages side by side. On a machine that has other work, too, the
// pages for each second of processor time are what can be compared.
func perSecond(b *testing.B, browser int, read func() error) {
	b.Helper()
	b.SetParallelism(max(1, benchTabs/runtime.GOMAXPROCS(0)))
	before := cpuTime(b, browser)
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
	b.ReportMetric(float64(b.N)/(cpuTime(b, browser)-before).Seconds(), "pages/core-s")
}

// cpuTime is what this process and all of the browser's have used, those among them that
// are gone.
func cpuTime(b *testing.B, browser int) time.Duration {
	b.Helper()
	var own syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &own))
	sum := time.Duration(own.Utime.Nano() + own.Stime.Nano())
	for member := range group(browser) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", member))
		if err != nil {
			continue
		}
		// After the name, which may hold anything: the times are fields 14 to 17.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		for _, field := range fields[11:15] {
			ticks, err := strconv.ParseInt(field, 10, 64)
			require.NoError(b, err)
			sum += time.Duration(ticks) * (time.Second / 100)
		}
	}
	return sum
}

func newScriptedSite(b *testing.B) string {
	b.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const text = "This is paragraph %d of a page that its scripts fill, and it is as long as paragraphs are: %s"
		switch r.URL.Path {
		case "/scripted", "/static":
			var filled strings.Builder
			for i := range 40 {
				if r.URL.Path == "/static" {
					fmt.Fprintf(&filled, "<p>"+text+"</p>", i, strings.Repeat("some more words, ", 20))
				}
			}
			script := "<script src=/app.js></script>"
			if filled.Len() > 0 {
				script = ""
			}
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, `<!doctype html><title>A page</title><link rel=stylesheet href=/style.css><img src=/picture.png>
<nav>`+strings.Repeat("<a href=/x>A link</a> ", 30)+`</nav><main id=root>`+filled.String()+`</main>`+script)
		case "/app.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = io.WriteString(w, `fetch('/data').then(r => r.json()).then(list => {
  for (const text of list) { const p = document.createElement('p'); p.textContent = text; document.getElementById('root').append(p); }
});`)
		case "/data":
			w.Header().Set("Content-Type", "application/json")
			var list []string
			for i := range 40 {
				list = append(list, fmt.Sprintf(`"`+text+`"`, i, strings.Repeat("some more words, ", 20)))
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

// BenchmarkSlot tells what one more open page takes of memory that no other process
// shares, and what the browser takes without any.
func BenchmarkSlot(b *testing.B) {
	release, arrived := make(chan struct{}), make(chan struct{}, benchTabs)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/held":
			_, _ = io.WriteString(w, strings.Repeat("<p>"+strings.Repeat("Some words of a page. ", 20), 40)+"<script>fetch('/hold')</script>")
		case "/hold":
			arrived <- struct{}{}
			<-release
		default:
			_, _ = io.WriteString(w, enough)
		}
	}))
	b.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	c := newChrome(b, func(o *Options) { o.Tabs, o.Timeout = benchTabs, time.Minute }, server.URL)
	_, err := c.Get(b.Context(), server.URL+"/")
	require.NoError(b, err)
	taken := func() int64 {
		sum := int64(0)
		for _, own := range group(c.current.pid) {
			sum += own
		}
		return sum >> 20
	}
	alone := taken()
	var pages errgroup.Group
	for range benchTabs {
		pages.Go(func() error {
			_, err := c.Get(b.Context(), server.URL+"/held")
			return err
		})
	}
	for range benchTabs {
		<-arrived
	}
	b.ReportMetric(float64(alone), "MiB/browser")
	b.ReportMetric(float64(taken()-alone)/benchTabs, "MiB/page")
	close(release)
	require.NoError(b, pages.Wait())
}
