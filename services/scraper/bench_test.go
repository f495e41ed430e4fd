package scraper_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/config"
	"github.com/fathom-research/fathom/services/scraper"
)

// BenchmarkPlain reads an article of 40 kB by plain HTTP, from the request to the
// page that is stored: fetching, extraction and compression.
func BenchmarkPlain(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, longArticle)
	}))
	b.Cleanup(server.Close)
	var cfg scraper.Config
	require.NoError(b, config.LoadFrom(&cfg, map[string]string{
		"FATHOM_SCRAPER_MODE": "http", "FATHOM_SCRAPER_ALLOW": strings.TrimPrefix(server.URL, "http://"),
	}))
	reader, err := scraper.NewReader(cfg)
	require.NoError(b, err)
	b.Cleanup(func() { _ = reader.Close() })
	b.SetParallelism(8)
	before := cpuTime(b)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			result, err := reader.Read(b.Context(), server.URL+"/article")
			if err != nil || !strings.Contains(result.GetPage().GetText(), "Paragraph 79") {
				b.Errorf("not read: %v", err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pages/s")
	b.ReportMetric(float64(b.N)/(cpuTime(b)-before).Seconds(), "pages/core-s")
}

// cpuTime is what this process has used, the server of the pages included.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var own syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &own))
	return time.Duration(own.Utime.Nano() + own.Stime.Nano())
}

var longArticle = func() string {
	var page strings.Builder
	page.WriteString(`<!doctype html><html lang=en><head><title>A long article</title></head><body><nav>` +
		strings.Repeat("<a href=/x>A link</a> ", 40) + `</nav><main><article><h1>A long article</h1>`)
	for i := range 80 {
		fmt.Fprintf(&page, "<p>Paragraph %d speaks of the lighthouse on the northern cape, which was built in 1871 by the harbour board after three ships had been lost there. %s</p>",
			i, strings.Repeat("Its keepers kept a log of the weather, and some of it is still read. ", 4))
	}
	page.WriteString("</article></main><footer>Imprint</footer></body></html>")
	return page.String()
}()
