package chrome

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/fault"
	"github.com/fathom-research/fathom/services/scraper/internal/fetch"
)

const enough = "<p>This page has enough text to be a page."

// Pages that want to hold or break a browser are read all the same, or end in time.
func TestHostilePages(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(" All of it can be read.", 80)
	for name, group := range map[string]struct {
		timeout time.Duration
		code    fault.Code // empty: they are read
		pages   map[string]string
	}{
		"read": {30 * time.Second, "", map[string]string{
			"dialogs":           long + "<script>for (let i = 0; i < 50; i++) { alert(i); confirm(i); prompt(i) } document.body.append('after the dialogs')</script>",
			"beforeunload":      long + "<script>onbeforeunload = e => { e.preventDefault(); return 'stay' }</script>",
			"popups":            long + "<script>for (let i = 0; i < 200; i++) open('/popup?' + i)</script>",
			"popups by timer":   long + "<script>setInterval(() => { const a = document.createElement('a'); a.href = '/popup'; a.target = '_blank'; document.body.append(a); a.click() }, 1)</script>",
			"downloads":         long + "<script>for (let i = 0; i < 20; i++) { const f = document.createElement('iframe'); f.src = '/download?' + i; document.body.append(f) }</script>",
			"reloads for ever":  long + "<script>setTimeout(() => location.reload(), 30)</script>",
			"changes for ever":  long + "<script>setInterval(() => document.body.append('x'), 5)</script>",
			"requests for ever": long + "<script>setInterval(() => fetch('/popup?' + Math.random()), 20)</script>",
			"hanging resources": long + "<script src=/hang></script><link rel=stylesheet href=/hang><img src=/hang>",
			"crash":             long + "<script>location = 'chrome://crash'</script>",
			"console floods":    long + "<script>for (let i = 0; i < 20000; i++) console.log('x'.repeat(100), {i})</script>",
			"overrides":         long + "<script>window.MutationObserver = null; Document.prototype.createTreeWalker = null; Element.prototype.querySelectorAll = () => { throw 1 }; JSON.parse = null; window.Promise = null; performance.now = () => 0; Object.defineProperty(Element.prototype, 'outerHTML', { get: () => 'forged' })</script>",
			"debugger":          long + "<script>debugger; setInterval(() => { debugger }, 1)</script>",
			"full screen":       long + "<script>document.documentElement.requestFullscreen().catch(() => {}); document.body.requestPointerLock()</script>",
			"authentication":    long + "<iframe src=/login></iframe>",
		}},
		"large": {30 * time.Second, fault.TooLarge, map[string]string{
			"elements": "<script>const d = document.createElement('div'); for (let i = 0; i < 5e5; i++) d.append(document.createElement('i')); document.body.append(d)</script>",
			"text":     "<script>document.body.append('x'.repeat(12 << 20))</script>",
			"memory":   "<script>const a = []; setInterval(() => { for (let i = 0; i < 8; i++) a.push(new Uint8Array(16 << 20).fill(1)) }, 5)</script>",
		}},
		"endless": {5 * time.Second, fault.TimedOut, map[string]string{
			"script":      "<script>for (;;) {}</script>",
			"late script": long + "<script>setTimeout(() => { for (;;) {} }, 20)</script>",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := newHoldingSite(t, func(page string) string { return enough + group.pages[page] })
			c := newChrome(t, func(o *Options) { o.Timeout, o.PageMemory, o.MaxBytes = group.timeout, 300<<20, 4<<20 }, site)
			var running sync.WaitGroup
			for page := range group.pages {
				running.Go(func() {
					answer, err := c.Get(t.Context(), site+"/page/"+strings.ReplaceAll(page, " ", "%20"))
					if group.code == "" {
						require.NoError(t, err, page)
						require.Contains(t, string(answer.Body), "enough text", page)
					} else {
						require.Error(t, err, page)
						require.Equal(t, group.code, fault.As(err).Code, "%s: %v", page, err)
					}
				})
			}
			running.Wait()
			_, err := c.Get(t.Context(), site+"/page/none")
			require.NoError(t, err, "the next page works")
		})
	}
}

// Chrome is killed while pages are in it: each is read all the same.
func TestDeathOfChromeCostsNoPage(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	open := make(chan struct{})
	arrived := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		arrived++
		if arrived == 3 {
			close(open)
		}
		first := arrived <= 3
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, enough)
		_ = http.NewResponseController(w).Flush()
		if first {
			<-r.Context().Done()
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	c := newChrome(t, nil, server.URL)
	ended := make(chan error, 3)
	for range cap(ended) {
		go func() {
			_, err := c.Get(t.Context(), server.URL+"/page")
			ended <- err
		}()
	}
	<-open
	c.mu.Lock()
	pid := c.current.pid
	c.mu.Unlock()
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	for range cap(ended) {
		require.NoError(t, <-ended)
	}
	require.Eventually(t, func() bool { return len(group(pid)) == 0 }, 5*time.Second, 20*time.Millisecond)
}

// A browser that is full is replaced while the pages in it go on, and nothing of it
// is left.
func TestRecycling(t *testing.T) {
	t.Parallel()
	site := serve(t, enough+strings.Repeat(" And more.", 200), nil)
	c := newChrome(t, func(o *Options) { o.RecyclePages = 3 }, site)
	pids := make(map[int]bool)
	for range 8 {
		_, err := c.Get(t.Context(), site+"/")
		require.NoError(t, err)
		c.mu.Lock()
		pids[c.current.pid] = true
		c.mu.Unlock()
	}
	require.Len(t, pids, 3)
	c.mu.Lock()
	current := c.current.pid
	c.mu.Unlock()
	delete(pids, current)
	require.Eventually(t, func() bool {
		for pid := range pids {
			if len(group(pid)) > 0 {
				return false
			}
		}
		return true
	}, 10*time.Second, 20*time.Millisecond)
	c.Close()
	require.Empty(t, group(current))
	_, err := c.Get(t.Context(), site+"/")
	require.ErrorIs(t, err, errClosed)
}

func TestDocumentsAreNotPages(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", strings.TrimPrefix(r.URL.Path, "/"))
		_, _ = io.WriteString(w, "%PDF-1.4 or something else")
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	c := newChrome(t, nil, server.URL)
	for _, media := range []string{"application/pdf", "application/zip", "text/plain", "application/json"} {
		_, err := c.Get(t.Context(), server.URL+"/"+media)
		var document *fetch.NotAPage
		require.ErrorAs(t, err, &document, media)
		require.Equal(t, media, document.ContentType)
	}
}

// Chrome runs in its own sandbox as a user that may use it, and reads pages there.
// Where the kernel lets nobody make namespaces, it says so and reads nothing.
func TestSandbox(t *testing.T) {
	t.Parallel()
	site := serve(t, enough+strings.Repeat(" And more.", 200), nil)
	c := newChrome(t, func(o *Options) {
		o.Sandbox = "on"
		if os.Getuid() == 0 {
			o.User = "nobody"
		}
	}, site)
	answer, err := c.Get(t.Context(), site+"/")
	if !namespaces(c.opts) {
		require.ErrorContains(t, err, "sandbox")
		return
	}
	require.NoError(t, err)
	require.Contains(t, string(answer.Body), "enough text")
	c.mu.Lock()
	pid := c.current.pid
	c.mu.Unlock()
	require.NotEmpty(t, group(pid))
	for member := range group(pid) {
		command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", member))
		if err != nil {
			continue
		}
		require.NotContains(t, string(command), "--no-sandbox")
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", member))
		if err == nil && os.Getuid() == 0 {
			require.NotRegexp(t, `(?m)^Uid:\t0\t`, string(status))
		}
	}
}

// namespaces reports whether the kernel lets Chrome's user make a namespace, which
// the sandbox is made of.
func namespaces(opts Options) bool {
	account, err := opts.account()
	if err != nil {
		return false
	}
	command := exec.Command("/bin/true")
	command.SysProcAttr = &syscall.SysProcAttr{Credential: account, Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID}
	if account != nil {
		// The clone must come after the change of the user, as it does in Chrome.
		command = exec.Command("unshare", "--user", "--pid", "--fork", "true")
		command.SysProcAttr = &syscall.SysProcAttr{Credential: account}
	}
	return command.Run() == nil
}

func TestCancelledPageGivesItsTabBack(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, enough)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	c := newChrome(t, func(o *Options) { o.Tabs = 1 }, server.URL)
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		_, err := c.Get(ctx, server.URL+"/hang")
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	_, err := c.Get(t.Context(), server.URL+"/")
	require.NoError(t, err)
}

func newHoldingSite(t *testing.T, page func(name string) string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/page/"):
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<!doctype html><body>"+page(strings.TrimPrefix(r.URL.Path, "/page/")))
		case r.URL.Path == "/hang":
			<-r.Context().Done()
		case r.URL.Path == "/login":
			w.Header().Set("WWW-Authenticate", `Basic realm="private"`)
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/download":
			w.Header().Set("Content-Disposition", `attachment; filename="a.bin"`)
			_, _ = io.WriteString(w, "x")
		default:
			_, _ = fmt.Fprint(w, "ok")
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}
