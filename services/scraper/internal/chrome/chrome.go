// Package chrome reads pages in a headless browser: one browser, a fresh isolated
// context for each page, nothing loaded that no text comes from.
package chrome

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/fathom-research/fathom/platform/fault"
	"github.com/fathom-research/fathom/services/scraper/internal/fetch"
)

// Options say how Chrome runs; all are required but User.
type Options struct {
	Path string
	// Proxy is the filtering proxy that all traffic goes through.
	Proxy     *url.URL
	UserAgent string
	Language  string
	// Sandbox is auto, on or off.
	Sandbox string
	// User is who Chrome runs as, when this process runs as root.
	User string
	// Tabs is the most pages at once.
	Tabs int
	// Timeout bounds one page.
	Timeout time.Duration
	// MaxBytes bounds the document that a page became.
	MaxBytes int64
	// RecyclePages is after how many pages the browser is replaced.
	RecyclePages int
	// Memory is how much all of Chrome may take before it is replaced, PageMemory how
	// much the process of one page may take before it is killed.
	Memory, PageMemory int64
	Logger             *slog.Logger
}

// Chrome is a browser that is started when it is first needed and replaced when it
// dies. It is safe for concurrent use.
type Chrome struct {
	opts  Options
	tabs  *semaphore.Weighted
	tasks sync.WaitGroup

	mu      sync.Mutex
	current *process
	// living are all that run: the current one and those that are retired.
	living map[*process]struct{}
	closed bool
	stop   chan struct{}
}

// New makes a Chrome. It starts nothing yet; Close ends what was started.
func New(opts Options) *Chrome {
	c := &Chrome{
		opts: opts, tabs: semaphore.NewWeighted(int64(opts.Tabs)),
		living: make(map[*process]struct{}), stop: make(chan struct{}),
	}
	c.tasks.Go(c.watch)
	c.tasks.Go(sweep)
	return c
}

// Close ends every browser and returns when all of their processes are gone.
func (c *Chrome) Close() {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	c.closed = true
	close(c.stop)
	for p := range c.living {
		c.tasks.Go(p.close)
	}
	c.mu.Unlock()
	c.tasks.Wait()
}

// maxRestarts is how often a page is begun again because its browser died. A page
// that kills three browsers is to blame itself.
const maxRestarts = 2

// Get shows the page at address and returns the document that it became. Its errors
// are *fault.Error, *fetch.NotAPage, or those of ctx.
func (c *Chrome) Get(ctx context.Context, address string) (*fetch.Response, error) {
	err := c.tabs.Acquire(ctx, 1)
	if err != nil {
		return nil, fmt.Errorf("wait for a tab: %w", err)
	}
	defer c.tabs.Release(1)
	for restarts := 0; ; restarts++ {
		answer, err := c.once(ctx, address)
		if !errors.Is(err, errBrowserGone) || ctx.Err() != nil {
			return answer, err
		}
		if restarts == maxRestarts {
			return nil, fault.Transient(fault.Unavailable, "Chrome died %d times over this page: %w", restarts+1, err)
		}
		c.opts.Logger.WarnContext(ctx, "chrome died", "restarts", restarts+1, "error", err)
	}
}

var (
	errBrowserGone = errors.New("the browser is gone")
	errClosed      = errors.New("chrome is closed")
)

func (c *Chrome) once(ctx context.Context, address string) (*fetch.Response, error) {
	p, err := c.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer p.leave()
	answer, err := visit(ctx, p, c.opts, address)
	if err != nil && p.lost() {
		return nil, fmt.Errorf("%w: %w", errBrowserGone, err)
	}
	return answer, err
}

// acquire returns the running browser, or starts one. Starting holds the lock: who
// comes meanwhile wants that same browser.
func (c *Chrome) acquire(ctx context.Context) (*process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClosed
	}
	if c.current != nil && c.current.served >= c.opts.RecyclePages {
		c.replace("pages")
	}
	if c.current != nil && c.current.enter() {
		return c.current, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	c.replace("lost")
	p, err := start(c.opts)
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		// chromedp's word for a connection that broke: the browser died while it started.
		return nil, fmt.Errorf("%w: %w", errBrowserGone, err)
	}
	if err != nil {
		return nil, err
	}
	c.opts.Logger.Debug("chrome started", "pid", p.pid, "sandbox", p.sandbox)
	p.enter()
	c.current = p
	c.living[p] = struct{}{}
	return p, nil
}

// replace retires the current browser. The caller holds the lock.
func (c *Chrome) replace(why string) {
	old := c.current
	if old == nil {
		return
	}
	c.current = nil
	c.opts.Logger.Debug("chrome retired", "reason", why, "pages", old.served)
	c.tasks.Go(func() {
		if why == "lost" {
			old.close()
		} else {
			old.retire()
			<-old.done
		}
		c.mu.Lock()
		delete(c.living, old)
		c.mu.Unlock()
	})
}
