package chrome

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"golang.org/x/sync/errgroup"

	"github.com/fathom-research/fathom/platform/fault"
	"github.com/fathom-research/fathom/services/scraper/internal/fetch"
)

//go:embed page.js
var pageScript string

//go:embed eager.js
var eagerScript string

// world is the name of the isolated world that pageScript runs in.
const world = "fathom"

// finishing is what is left of a page's time for taking what there is, when it
// never comes to rest.
const finishing = 4 * time.Second

// visit shows one page in a context of its own, which ends with it.
func visit(ctx context.Context, p *process, opts Options, address string) (*fetch.Response, error) {
	limited, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	work, abort := context.WithCancelCause(limited)
	defer abort(nil)
	v := &visitor{process: p, opts: opts, browser: chromedp.FromContext(p.ctx).Browser, abort: abort, state: newState()}
	defer v.leave()

	answer, err := v.run(work, address)
	var crash *fault.Error
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("show %s: %w", address, ctx.Err())
	case limited.Err() != nil:
		return nil, fault.Transient(fault.TimedOut, "the page did not come to an end in %s", opts.Timeout)
	case errors.As(context.Cause(work), &crash):
		return nil, crash
	default:
		return nil, err
	}
}

// openTimeout is how long a browser that is well takes at most to open a tab on a
// busy machine.
const openTimeout = 15 * time.Second

// leaveTimeout is how long a browser that is well takes at most to close a page,
// however much that one resists.
const leaveTimeout = 5 * time.Second

// leave closes the page with all that it opened. The context goes first: while
// there still are events of a page, chromedp must go on reading them, or its whole
// connection comes to a stop.
func (v *visitor) leave() {
	if v.isolation != "" && !v.process.lost() {
		ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
		_, err := cdp.Call(ctx, v.browser, target.DisposeBrowserContext, target.DisposeBrowserContextParams{BrowserContextID: v.isolation})
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			v.opts.Logger.Warn("chrome does not close a page and is killed", "pid", v.process.pid)
			v.process.kill()
		}
	}
	if v.closeTab != nil {
		v.closeTab()
	}
	v.calls.Wait()
}

func (v *visitor) run(ctx context.Context, address string) (*fetch.Response, error) {
	err := v.prepare(ctx)
	if err != nil {
		return nil, err
	}
	err = v.navigate(ctx, address)
	if err != nil {
		return nil, err
	}
	resting, cancel := context.WithTimeout(ctx, max(v.opts.Timeout-finishing, v.opts.Timeout/2))
	defer cancel()
	err = v.rest(resting)
	if err != nil && (resting.Err() == nil || ctx.Err() != nil) {
		return nil, err
	}
	return v.take(ctx)
}

// open makes a tab in an isolated context. In full Chrome it has a window of its
// own, which takes most of the time that a page needs; a hidden tab would be twice
// as fast, but Chrome does not apply the WebRTC policy to those, and datagrams leave.
func (v *visitor) open(ctx context.Context) error {
	made, err := cdp.Call(ctx, v.browser, target.CreateBrowserContext, target.CreateBrowserContextParams{})
	if err != nil {
		return fmt.Errorf("isolate a page: %w", err)
	}
	v.isolation = made.BrowserContextID
	window := !v.process.shell
	blank, err := cdp.Call(ctx, v.browser, target.CreateTarget, target.CreateTargetParams{URL: "about:blank", BrowserContextID: made.BrowserContextID, NewWindow: &window})
	if err != nil {
		return fmt.Errorf("open a tab: %w", err)
	}
	v.tab, v.closeTab = chromedp.NewContext(v.process.ctx, chromedp.WithTargetID(blank.TargetID))
	// A tab lives as long as the context of its first action, so that one is the
	// browser's.
	watchdog := time.AfterFunc(openTimeout, v.process.kill)
	defer watchdog.Stop()
	err = chromedp.Do(v.tab)
	if err != nil {
		return fmt.Errorf("attach to a tab: %w", err)
	}
	v.target = chromedp.FromContext(v.tab).Target
	v.state.main = cdp.FrameID(v.target.TargetID)
	err = chromedp.Listen(v.tab, v.listen)
	if err != nil {
		return fmt.Errorf("listen to the tab: %w", err)
	}
	return nil
}

// prepare opens the tab and sets it up. What is set up is sent without waiting for
// one answer before the next question.
func (v *visitor) prepare(ctx context.Context) error {
	err := v.open(ctx)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		_, err := cdp.Call(ctx, v.browser, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
			Behavior: browser.SetDownloadBehaviorBehaviorDeny, BrowserContextID: v.isolation,
		})
		return err
	})
	group.Go(func() error {
		_, err := cdp.Call(ctx, v.target, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: blockedMedia()})
		return err
	})
	group.Go(func() error {
		_, err := cdp.Call(ctx, v.target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: pageScript, WorldName: world})
		return err
	})
	group.Go(func() error {
		_, err := cdp.Call(ctx, v.target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: eagerScript})
		return err
	})
	// chromedp watches every other tab from each tab, too.
	group.Go(func() error {
		_, err := cdp.Call(ctx, v.target, target.SetDiscoverTargets, target.SetDiscoverTargetsParams{})
		return err
	})
	group.Go(func() error {
		flat := true
		_, err := cdp.Call(ctx, v.target, target.SetAutoAttach, target.SetAutoAttachParams{Flatten: &flat})
		return err
	})
	// chromedp follows the document and the console of every tab. Nothing here needs
	// that, and a page could flood it until the connection stands still.
	for _, domain := range []string{dom.CommandDisable, runtime.CommandDisable} {
		group.Go(func() error { return v.target.Call(ctx, domain, nil, nil) })
	}
	err = group.Wait()
	if err != nil {
		return fmt.Errorf("set the tab up: %w", err)
	}
	return nil
}

func (v *visitor) navigate(ctx context.Context, address string) error {
	result, err := cdp.Call(ctx, v.target, page.Navigate, page.NavigateParams{URL: address})
	document := v.state.latest()
	switch {
	case err != nil:
		return fmt.Errorf("navigate: %w", err)
	case proxyRefusal(document) != nil:
		return proxyRefusal(document)
	case result.IsDownload, document != nil && !showable(document.MimeType):
		return &fetch.NotAPage{ContentType: mime(document)}
	case result.ErrorText != "":
		return netFault(result.ErrorText)
	}
	return nil
}

// take returns the document as it is now. A page that goes on to another document
// meanwhile is taken there.
func (v *visitor) take(ctx context.Context) (*fetch.Response, error) {
	for {
		answer, err := v.serialize(ctx)
		if !errors.Is(err, errNavigated) {
			return answer, err
		}
		err = v.wait(ctx)
		if err != nil {
			return nil, err
		}
	}
}

func (v *visitor) serialize(ctx context.Context) (*fetch.Response, error) {
	document := v.state.document()
	if document == nil {
		return nil, fault.Transient(fault.Unavailable, "Chrome got no answer")
	}
	err := v.refused(document)
	if err != nil {
		return nil, err
	}
	if !showable(document.MimeType) {
		return nil, &fetch.NotAPage{ContentType: document.MimeType}
	}
	var content struct {
		HTML  string
		Large bool
	}
	err = v.evaluate(ctx, fmt.Sprintf("fathom.serialize(%d)", v.opts.MaxBytes), &content)
	switch {
	case err != nil:
		return nil, err
	case content.Large || int64(len(content.HTML)) > v.opts.MaxBytes:
		return nil, fault.Permanent(fault.TooLarge, "the page became larger than %d bytes", v.opts.MaxBytes)
	}
	header := plainHeader(document.Headers)
	header.Set("Content-Type", "text/html; charset=utf-8")
	return &fetch.Response{FinalURL: v.state.address(), Status: int(document.Status), Header: header, Body: []byte(content.HTML)}, nil
}

// proxyRefusal is the failure that the proxy's own answer stands for.
func proxyRefusal(document *network.Response) error {
	if document == nil {
		return nil
	}
	reason := plainHeader(document.Headers).Get(fetch.RefusedHeader)
	if reason == "" {
		return nil
	}
	return fault.Permanent(fault.RefusedAddress, "%s", reason)
}

// refused is the failure of a page that led to where nothing is read from.
func (v *visitor) refused(document *network.Response) error {
	err := proxyRefusal(document)
	if err != nil {
		return err
	}
	shown, err := url.Parse(v.state.address())
	if err != nil || (shown.Scheme != "http" && shown.Scheme != "https") {
		return fault.Permanent(fault.RefusedAddress, "the page led to %q", v.state.address())
	}
	return nil
}

func mime(document *network.Response) string {
	if document == nil {
		return ""
	}
	return document.MimeType
}

func showable(mime string) bool {
	switch mime {
	case "text/html", "application/xhtml+xml", "":
		return true
	default:
		return false
	}
}

func plainHeader(from network.Headers) http.Header {
	header := make(http.Header, len(from))
	for name, value := range from {
		header.Set(name, fmt.Sprint(value))
	}
	return header
}

// netFault is the failure that one of Chrome's network errors stands for.
func netFault(text string) error {
	switch text {
	case "net::ERR_TUNNEL_CONNECTION_FAILED":
		return fault.Transient(fault.Unavailable, "the proxy did not connect: %s", text)
	case "net::ERR_NAME_NOT_RESOLVED", "net::ERR_TOO_MANY_REDIRECTS", "net::ERR_INVALID_RESPONSE", "net::ERR_UNSAFE_PORT", "net::ERR_UNSAFE_REDIRECT":
		return fault.Permanent(fault.Unavailable, "Chrome reports %s", text)
	case "net::ERR_TIMED_OUT", "net::ERR_CONNECTION_TIMED_OUT":
		return fault.Transient(fault.TimedOut, "Chrome reports %s", text)
	default:
		return fault.Transient(fault.Unavailable, "Chrome reports %s", text)
	}
}
