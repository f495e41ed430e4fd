package scraper_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fathom-research/fathom/platform/fault"
	"github.com/fathom-research/fathom/services/scraper"
	"github.com/fathom-research/fathom/testkit/bustest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	err := errors.Join(goleak.Find(), noChromeLeft())
	if code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// noChromeLeft looks for processes with a profile of this process.
func noChromeLeft() error {
	profile := fmt.Sprintf("fathom-chrome-%d-", os.Getpid())
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return err
	}
	for _, path := range commands {
		command, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(command), profile) {
			return fmt.Errorf("a Chrome process is left: %s", filepath.Dir(path))
		}
	}
	return nil
}

// outcome is how the reading of a page ended.
type outcome struct {
	code     fault.Code
	rung     string
	text     string
	attempts int
	took     time.Duration
	err      error
}

// readAll reads pages, some at once, and tries again as often as is due.
func readAll(ctx context.Context, service *scraper.Service, addresses []string, parallel, attempts int) map[string]outcome {
	var mu sync.Mutex
	var running sync.WaitGroup
	outcomes := make(map[string]outcome, len(addresses))
	slots := make(chan struct{}, parallel)
	for _, address := range addresses {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			o := readOne(ctx, service, address, attempts)
			mu.Lock()
			defer mu.Unlock()
			outcomes[address] = o
		})
	}
	running.Wait()
	return outcomes
}

func readOne(ctx context.Context, service *scraper.Service, address string, attempts int) outcome {
	var o outcome
	began := time.Now()
	for o.attempts < attempts {
		wait := 20 * time.Millisecond
		result, err := service.Handle(ctx, task(address))
		var deferral *fault.Deferral
		switch {
		case err == nil:
			page := result.GetScrape().GetPage()
			return outcome{code: fault.OK, rung: page.GetRung(), text: page.GetText(), attempts: o.attempts + 1, took: time.Since(began)}
		case errors.As(err, &deferral):
			wait = max(wait, time.Until(deferral.Until))
		default:
			o.attempts++
			o.code, o.err = fault.As(err).Code, err
			wait = max(wait, fault.As(err).RetryAfter)
			if !fault.As(err).Retryable {
				attempts = 0
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	o.took = time.Since(began)
	return o
}

// A web of pages with every fault that is known: each page ends as it should, and
// all in time, several times over in one browser.
func TestEveryFaultEndsAsItShould(t *testing.T) {
	t.Parallel()
	site := newFaultyWeb(t)
	service := newService(t, bustest.Open(t), map[string]string{
		"FATHOM_SCRAPER_ALLOW": strings.TrimPrefix(site, "http://"), "FATHOM_SCRAPER_HTTP_TIMEOUT": "4s", "FATHOM_SCRAPER_TABS": "4",
	})
	const whichever = "either rung"
	want := map[string]struct {
		code fault.Code
		rung string
	}{
		"plain": {fault.OK, "http"}, "js": {fault.OK, "chrome"}, "late-js": {fault.OK, "chrome"}, "popups": {fault.OK, "chrome"}, "reloads": {fault.OK, "chrome"},
		"flaky": {fault.OK, "http"}, "limited": {fault.OK, "http"}, "redirect": {fault.OK, "http"}, "latin": {fault.OK, "http"}, "pdf": {fault.OK, "http"}, "dropped": {fault.OK, whichever},
		"403": {fault.Blocked, ""}, "404": {fault.NotFound, ""}, "500": {fault.Unavailable, ""}, "wall": {fault.Blocked, ""}, "robots": {fault.Robots, ""},
		"hang": {fault.TimedOut, ""}, "drip": {fault.TimedOut, ""}, "loop": {fault.Unavailable, ""}, "huge": {fault.TooLarge, ""}, "bomb": {fault.TooLarge, ""},
		"picture": {fault.Unreadable, ""}, "empty": {fault.Empty, ""}, "garbage": {fault.Unavailable, ""}, "private": {fault.RefusedAddress, ""}, "grows": {fault.TooLarge, ""},
	}
	var addresses []string
	for i := range 2 {
		for class := range want {
			addresses = append(addresses, fmt.Sprintf("%s/%s/%d", site, class, i))
		}
	}
	for address, o := range readAll(t.Context(), service, addresses, 16, 2) {
		class := strings.Split(address, "/")[3]
		require.Equal(t, want[class].code, o.code, "%s: %v", address, o.err)
		if want[class].rung != whichever {
			require.Equal(t, want[class].rung, o.rung, address)
		}
		if o.code == fault.OK {
			require.Contains(t, o.text, "1871", address)
		}
	}
}

func newFaultyWeb(t *testing.T) string {
	t.Helper()
	var mu sync.Mutex
	seen := make(map[string]int)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen[r.URL.Path]++
		first := seen[r.URL.Path] == 1
		mu.Unlock()
		class := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")[0]
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		serveFault(w, r, class, first)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

func serveFault(w http.ResponseWriter, r *http.Request, class string, first bool) {
	script := func(format string, args ...any) {
		_, _ = fmt.Fprintf(w, "<!doctype html><title>App</title><div id=root></div><script>"+format+"</script>", args...)
	}
	fill := fmt.Sprintf("document.getElementById('root').innerHTML = %q;", article)
	switch class {
	case "robots.txt":
		_, _ = io.WriteString(w, "User-agent: *\nDisallow: /robots/")
	case "js":
		script("%s", fill)
	case "late-js":
		script("setTimeout(() => { %s }, 700)", fill)
	case "popups":
		script("%s for (let i = 0; i < 30; i++) open('/plain/popup'); alert(1)", fill)
	case "reloads":
		script("setTimeout(() => location.reload(), 50)")
		_, _ = io.WriteString(w, "<p>The lighthouse was built in 1871.")
	case "grows":
		script("const d = document.createElement('div'); for (let i = 0; i < 4e5; i++) d.append(document.createElement('i')); document.body.append(d)")
	case "flaky", "limited":
		if first {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(map[string]int{"flaky": http.StatusServiceUnavailable, "limited": http.StatusTooManyRequests}[class])
			return
		}
		_, _ = io.WriteString(w, article)
	case "redirect":
		hop, _ := strconv.Atoi(r.URL.Query().Get("hop"))
		if hop < 4 {
			http.Redirect(w, r, fmt.Sprintf("%s?hop=%d", r.URL.Path, hop+1), http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, article)
	case "latin":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, strings.Replace(article, "<head>", "<head><meta charset=windows-1252>", 1)+"\x93quoted\x94")
	case "pdf":
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = io.WriteString(w, onePagePDF())
	case "dropped":
		if first {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, article)
	case "403", "404", "500":
		status, _ := strconv.Atoi(class)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<h1>No</h1>")
	case "wall":
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "<title>Just a moment...</title><p>Checking your browser")
	case "hang":
		<-r.Context().Done()
	case "drip":
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, "x")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
	case "loop":
		http.Redirect(w, r, r.URL.Path+"?"+strconv.FormatInt(time.Now().UnixNano(), 10), http.StatusFound)
	case "huge":
		_, _ = io.WriteString(w, article)
		padding := strings.Repeat("<!-- padding -->", 1<<12)
		for range 30 << 4 {
			_, _ = io.WriteString(w, padding)
		}
	case "bomb":
		w.Header().Set("Content-Encoding", "gzip")
		compressed := gzip.NewWriter(w)
		zeros := make([]byte, 1<<20)
		for range 1 << 10 {
			_, err := compressed.Write(zeros)
			if err != nil {
				return
			}
		}
	case "picture":
		w.Header().Set("Content-Type", "image/png")
	case "empty":
		_, _ = io.WriteString(w, "<!doctype html><title>Nothing</title>")
	case "garbage":
		connection, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = io.WriteString(connection, "NOT HTTP AT ALL\r\n\r\n\x00\x01")
			_ = connection.Close()
		}
	case "private":
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
	default:
		_, _ = io.WriteString(w, article)
	}
}

func onePagePDF() string {
	text := "BT /F1 12 Tf 14 TL 50 750 Td (The lighthouse on the northern cape was built in 1871 by the harbour board.) Tj T* " +
		"(Its lamp burned rape oil until 1894, when the keepers changed to paraffin.) Tj ET"
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(text), text),
	}
	var file, table strings.Builder
	file.WriteString("%PDF-1.4\n")
	for i, object := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", file.Len())
		fmt.Fprintf(&file, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	at := file.Len()
	fmt.Fprintf(&file, "xref\n0 6\n0000000000 65535 f \n%strailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", table.String(), at)
	return file.String()
}
