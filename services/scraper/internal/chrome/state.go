package chrome

import (
	"context"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// visitor shows one page.
type visitor struct {
	process *process
	opts    Options
	browser *chromedp.Browser
	// isolation is the browser context of this page alone.
	isolation cdp.BrowserContextID
	tab       context.Context
	closeTab  context.CancelFunc
	target    *chromedp.Target
	state     *state
	// abort ends the visit with a reason.
	abort context.CancelCauseFunc
	// calls are those that events led to.
	calls sync.WaitGroup
}

// state is what the events of a tab tell about its page.
type state struct {
	main cdp.FrameID

	mu  sync.Mutex
	url string
	// loader is the navigation that led to the document that is shown, and answers
	// are those of all navigations: one that became a download shows nothing.
	loader  cdp.LoaderID
	answers map[cdp.LoaderID]*network.Response
	last    *network.Response
	// world is the isolated world of the document that is shown now; 0 between two.
	world   runtime.ExecutionContextID
	pending map[network.RequestID]time.Time
	loaded  bool
	// changed receives after every event that may bring the page closer to rest.
	changed chan struct{}
}

func newState() *state {
	return &state{
		answers: make(map[cdp.LoaderID]*network.Response), pending: make(map[network.RequestID]time.Time),
		changed: make(chan struct{}, 1),
	}
}

// listen is called for each event in order, and must not block.
func (v *visitor) listen(event any) {
	s := v.state
	s.mu.Lock()
	defer s.mu.Unlock()
	switch event := event.(type) {
	case *network.EventRequestWillBeSent:
		if event.Type != network.ResourceTypeEventSource && event.Type != network.ResourceTypeWebSocket && event.Type != network.ResourceTypePing {
			s.pending[event.RequestID] = time.Now()
		}
		return
	case *network.EventLoadingFinished:
		delete(s.pending, event.RequestID)
	case *network.EventLoadingFailed:
		delete(s.pending, event.RequestID)
	case *network.EventResponseReceived:
		if event.Type == network.ResourceTypeDocument && event.FrameID == s.main {
			s.answers[event.LoaderID], s.last = event.Response, event.Response
		}
		return
	case *page.EventFrameNavigated:
		if event.Frame.ID != s.main {
			return
		}
		s.url, s.loader, s.loaded, s.world = event.Frame.URL, event.Frame.LoaderID, false, 0
	case *page.EventNavigatedWithinDocument:
		if event.FrameID == s.main {
			s.url = event.URL
		}
		return
	case *page.EventLoadEventFired:
		s.loaded = true
	case *inspector.EventTargetCrashed:
		v.abort(v.crashed())
	case *page.EventJavascriptDialogOpening:
		v.calls.Go(v.dismiss)
	default:
		return
	}
	s.wake()
}

func (s *state) wake() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// dismiss answers a dialog with no. Its page stands still until then.
func (v *visitor) dismiss() {
	ctx, cancel := context.WithTimeout(v.tab, 2*time.Second)
	defer cancel()
	// It fails when the page is gone, and its dialog with it.
	_, _ = cdp.Call(ctx, v.target, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: false})
}

// document is the answer that is shown, or nil for a document that no server sent.
func (s *state) document() *network.Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answers[s.loader]
}

// latest is the last answer to a navigation, shown or not.
func (s *state) latest() *network.Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

func (s *state) address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.url
}

// oldRequest is when a request no longer keeps a page from being at rest: it waits
// for news, or never ends.
const oldRequest = 3 * time.Second

// snapshot is the state at one moment.
type snapshot struct {
	loader  cdp.LoaderID
	world   runtime.ExecutionContextID
	loaded  bool
	pending int
}

func (s *state) snapshot() snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := snapshot{loader: s.loader, world: s.world, loaded: s.loaded}
	for _, began := range s.pending {
		if time.Since(began) < oldRequest {
			now.pending++
		}
	}
	return now
}

// enter remembers the isolated world of the document that a navigation led to,
// unless another one has followed.
func (s *state) enter(loader cdp.LoaderID, world runtime.ExecutionContextID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loader == loader {
		s.world = world
	}
}
