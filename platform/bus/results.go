package bus

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/proto"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// maxApplyPause bounds the pause before a result that could not be applied comes
// again: a database that is back should not be waited for.
const maxApplyPause = 5 * time.Second

// Results hands every result to apply until ctx ends, at most slots at once: those
// of workers, and a Failure{worker_died} for each task whose workers keep dying.
// A result is removed only when apply returned nil; else it comes again, after a
// delay. apply must be idempotent. A server that is away or has lost its store does
// not end it.
func (b *Bus) Results(ctx context.Context, slots int, apply func(ctx context.Context, result *workv1.Result) error) error {
	if slots < 1 || apply == nil {
		return fmt.Errorf("read results with %d slots: a slot and a function are needed", slots)
	}
	a := &application{bus: b, ctx: ctx, apply: apply}
	b.consume(ctx, feed{stream: streamResults, durable: consumerState, slots: slots, ahead: slots}, a.deliver)
	return nil
}

// application is one call of Results.
type application struct {
	bus   *Bus
	ctx   context.Context
	apply func(ctx context.Context, result *workv1.Result) error
}

func (a *application) deliver(msg jetstream.Msg) {
	e, err := readEnvelope(msg.Subject(), msg.Headers())
	if err != nil {
		a.bus.log.Error("result dropped", "error", err)
		_ = msg.TermWithReason("not a result's subject")
		return
	}
	ctx, span := startConsumer(a.ctx, msg.Headers(), "apply "+string(e.kind), e)
	stopHeartbeat := a.heartbeat(msg)
	defer stopHeartbeat()

	err = a.run(ctx, msg)
	a.settle(ctx, e, msg, err)
	outcome := "applied"
	if err != nil {
		outcome = "not applied"
	}
	endSpan(span, outcome, err)
}

// errUnusable is a result that no later try could apply.
var errUnusable = errors.New("the result can't be used")

func (a *application) run(ctx context.Context, msg jetstream.Msg) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	body, err := a.bus.body(ctx, msg.Headers(), msg.Data())
	if errors.Is(err, errBlobMissing) {
		return errors.Join(errUnusable, err)
	}
	if err != nil {
		return err
	}
	result := &workv1.Result{}
	err = proto.Unmarshal(body, result)
	if err != nil {
		return errors.Join(errUnusable, err)
	}
	return a.guarded(ctx, result)
}

// guarded turns a panic into an error.
func (a *application) guarded(ctx context.Context, result *workv1.Result) error {
	var err error
	func() {
		defer func() {
			cause := recover()
			if cause != nil {
				err = fmt.Errorf("apply panicked: %v\n%s", cause, debug.Stack())
			}
		}()
		err = a.apply(ctx, result)
	}()
	return err
}

func (a *application) settle(ctx context.Context, e envelope, msg jetstream.Msg, err error) {
	switch {
	case err == nil:
		err = a.ack(ctx, msg)
		if err != nil {
			a.bus.log.WarnContext(ctx, "result not acked", append(e.attributes(), "error", err)...)
		}
	case ctx.Err() != nil:
		_ = msg.Nak()
	case errors.Is(err, errUnusable):
		// Without a result and a message the sweeper finds the task lost.
		a.bus.log.WarnContext(ctx, "result dropped", append(e.attributes(), "error", err)...)
		_ = msg.TermWithReason(errUnusable.Error())
	default:
		a.bus.log.WarnContext(ctx, "result not applied, will come again", append(e.attributes(), "error", err)...)
		_ = msg.NakWithDelay(applyPause(msg))
	}
}

func (a *application) ack(ctx context.Context, msg jetstream.Msg) error {
	acking, cancel := asking(context.WithoutCancel(ctx))
	defer cancel()
	err := msg.DoubleAck(acking)
	if err != nil {
		return err
	}
	a.bus.dropBlob(ctx, msg.Headers())
	return nil
}

// applyPause doubles with each delivery.
func applyPause(msg jetstream.Msg) time.Duration {
	meta, err := msg.Metadata()
	if err != nil {
		return maxApplyPause
	}
	return min(maxApplyPause, 50*time.Millisecond<<min(meta.NumDelivered, 10))
}

func (a *application) heartbeat(msg jetstream.Msg) func() {
	done := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() {
		ticker := time.NewTicker(a.bus.heartbeatEvery())
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				_ = msg.InProgress()
			}
		}
	})
	return func() {
		close(done)
		beating.Wait()
	}
}
