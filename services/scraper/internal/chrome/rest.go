package chrome

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"github.com/fathom-research/fathom/platform/fault"
)

// rest waits until the page shows its text: nothing is being loaded and the text no
// longer changes. It waits for content and not for a fixed time.
func (v *visitor) rest(ctx context.Context) error {
	err := v.settle(ctx)
	if err != nil {
		return err
	}
	var changed bool
	err = v.evaluate(ctx, "fathom.uncover()", &changed)
	if err == nil && !changed && v.state.snapshot().pending == 0 {
		return nil
	}
	if err != nil && !errors.Is(err, errNavigated) {
		return err
	}
	return v.settle(ctx)
}

func (v *visitor) settle(ctx context.Context) error {
	began := time.Now()
	var shown turnover
	for {
		now := v.state.snapshot()
		if shown.endless(now) {
			err := v.still(ctx)
			if err != nil {
				return err
			}
		}
		if shown.stilled && now.loaded && now.pending == 0 {
			return nil
		}
		resting, err := v.resting(ctx, began)
		if err != nil || resting {
			return err
		}
		err = v.wait(ctx)
		if err != nil {
			return err
		}
	}
}

// maxDocuments is how many documents a page may be replaced by, one after another,
// before its scripts are switched off: one that reloads for ever never rests, and
// eats memory all the time.
const maxDocuments = 12

// turnover counts the documents that a page showed while it was waited for.
type turnover struct {
	last      cdp.LoaderID
	documents int
	stilled   bool
}

// endless reports, once, that there were too many documents. It waits for one to
// have loaded, so that what its scripts wrote is kept, but not for ever.
func (t *turnover) endless(now snapshot) bool {
	if now.loader != t.last {
		t.last = now.loader
		t.documents++
	}
	due := t.documents >= 2*maxDocuments || t.documents >= maxDocuments && now.loaded
	if t.stilled || !due {
		return false
	}
	t.stilled = true
	return true
}

// still switches the page's scripts off: the document that is shown stays, or the
// one that is on its way is the last.
func (v *visitor) still(ctx context.Context) error {
	_, err := cdp.Call(ctx, v.target, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	if err != nil {
		return fmt.Errorf("switch the page's scripts off: %w", err)
	}
	return nil
}

// lookAgain is how long no event keeps the page from being looked at.
const lookAgain = 250 * time.Millisecond

func (v *visitor) wait(ctx context.Context) error {
	timer := time.NewTimer(lookAgain)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-v.process.gone:
		return errBrowserGone
	case <-v.state.changed:
	case <-timer.C:
	}
	return nil
}

// slowLoad is when a page is looked at although its load event has not come: a
// hanging picture or script must not keep the text from being read.
const slowLoad = 4 * time.Second

// resting reports whether nothing is loading and the text has not changed for as
// long as its length asks for.
func (v *visitor) resting(ctx context.Context, began time.Time) (bool, error) {
	now := v.state.snapshot()
	if now.loader == "" || now.pending > 0 || !now.loaded && time.Since(began) < slowLoad {
		return false, nil
	}
	var quiet bool
	err := v.evaluate(ctx, "fathom.rest()", &quiet)
	if errors.Is(err, errNavigated) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	later := v.state.snapshot()
	return quiet && later.pending == 0 && later.loader == now.loader, nil
}

// crashed is the failure of a page whose process ended: killed for its memory, or
// by a fault of its own.
func (v *visitor) crashed() *fault.Error {
	if v.process.blamed() {
		return fault.Permanent(fault.TooLarge, "the page took more than %d bytes of memory", v.opts.PageMemory)
	}
	return fault.Transient(fault.Unavailable, "the page's process ended")
}

// errNavigated says that the document was replaced while it was asked something.
var errNavigated = errors.New("the page went on to another document")

// evaluate runs an expression in the isolated world and decodes its value, unless
// into is nil.
func (v *visitor) evaluate(ctx context.Context, expression string, into any) error {
	inside, err := v.world(ctx)
	if err != nil {
		return err
	}
	wait, byValue := true, true
	result, err := cdp.Call(ctx, v.target, runtime.Evaluate, runtime.EvaluateParams{
		Expression: expression, ContextID: inside, AwaitPromise: &wait, ReturnByValue: &byValue,
	})
	var refused *cdproto.Error
	switch {
	case errors.As(err, &refused):
		// The world of the expression does not exist any more.
		return errNavigated
	case err != nil:
		return fmt.Errorf("look at the page: %w", err)
	case result.ExceptionDetails != nil:
		return fault.Permanent(fault.Unreadable, "the page can't be looked at: %s", result.ExceptionDetails.Text)
	case into == nil:
		return nil
	}
	err = json.Unmarshal(result.Result.Value, into)
	if err != nil {
		return fmt.Errorf("read what the page holds: %w", err)
	}
	return nil
}

// world is the isolated world of the document that is shown.
func (v *visitor) world(ctx context.Context) (runtime.ExecutionContextID, error) {
	now := v.state.snapshot()
	if now.world != 0 {
		return now.world, nil
	}
	made, err := cdp.Call(ctx, v.target, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: v.state.main, WorldName: world})
	var refused *cdproto.Error
	switch {
	case errors.As(err, &refused):
		return 0, errNavigated
	case err != nil:
		return 0, fmt.Errorf("enter the page: %w", err)
	}
	v.state.enter(now.loader, made.ExecutionContextID)
	return made.ExecutionContextID, nil
}

// blockedMedia are the files that hold sound and pictures; images are not loaded
// by a switch of the browser's.
func blockedMedia() []*network.BlockPattern {
	var patterns []*network.BlockPattern
	for _, ending := range []string{"mp4", "webm", "m4v", "mov", "m3u8", "mpd", "mp3", "m4a", "ogg", "oga", "wav", "flac", "aac", "woff", "woff2", "ttf", "otf"} {
		patterns = append(patterns, &network.BlockPattern{URLPattern: "*://*:*/*." + ending, Block: true})
	}
	return patterns
}
