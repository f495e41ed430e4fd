package chrome

import (
	"compress/gzip"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/fault"
)

// Ten gigabytes in ten megabytes of gzip end the page, and not the browser.
func TestCompressedBombEndsThePage(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path != "/bomb" {
			_, _ = w.Write([]byte(enough))
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		writer, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		filler := []byte(strings.Repeat("<p>x", 1<<18))
		for range 10 << 10 {
			_, err := writer.Write(filler)
			if err != nil {
				return
			}
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	c := newChrome(t, func(o *Options) { o.PageMemory = 300 << 20 }, server.URL)
	_, err := c.Get(t.Context(), server.URL+"/bomb")
	require.Error(t, err)
	require.Contains(t, []fault.Code{fault.TooLarge, fault.TimedOut}, fault.As(err).Code, err)
	_, err = c.Get(t.Context(), server.URL+"/")
	require.NoError(t, err, "the next page works")
}

// However a page ends, its context and its tabs end with it.
func TestNothingStaysOpen(t *testing.T) {
	t.Parallel()
	pages := map[string]string{
		"plain": "", "popups": "<script>for (let i = 0; i < 9; i++) open('/popup')</script>", "dialog": "<script>alert(1)</script>",
		"crash": "<script>location = 'chrome://crash'</script>", "worker": "<script>new SharedWorker('data:text/javascript,')</script>",
		"frames": strings.Repeat("<iframe src=/popup></iframe>", 5),
	}
	site := newHoldingSite(t, func(page string) string { return enough + pages[page] })
	c := newChrome(t, nil, site)
	for page := range pages {
		_, err := c.Get(t.Context(), site+"/page/"+page)
		require.NoError(t, err, page)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := c.Get(ctx, site+"/hang")
	require.Error(t, err)
	c.mu.Lock()
	p := c.current
	c.mu.Unlock()
	require.Eventually(t, func() bool {
		contexts, err := chromedp.CallBrowser(p.ctx, target.GetBrowserContexts, cdp.Empty{})
		require.NoError(t, err)
		targets, err := chromedp.CallBrowser(p.ctx, target.GetTargets, target.GetTargetsParams{})
		require.NoError(t, err)
		open := 0
		for _, info := range targets.TargetInfos {
			if info.Type == "page" && info.URL != "about:blank" && !strings.HasPrefix(info.URL, "chrome://") {
				open++
			}
		}
		return len(contexts.BrowserContextIDs) == 0 && open == 0
	}, 10*time.Second, 50*time.Millisecond)
}
