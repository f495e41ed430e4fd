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
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// delivery is one delivery of a task to this worker. The server redelivers the task
// to another one when no heartbeat of this one has come for AckWait.
type delivery struct {
	*work
	envelope
	msg    jetstream.Msg
	cancel context.CancelCauseFunc
	limit  time.Duration
	calls  sync.WaitGroup
}

// deliver runs one delivery from its receipt to its outcome.
func (w *work) deliver(msg jetstream.Msg) {
	e, err := readEnvelope(msg.Subject(), msg.Headers())
	if err != nil {
		w.bus.log.Error("task dropped", "error", err)
		_ = msg.TermWithReason("not a task's subject")
		return
	}
	ctx, cancel := context.WithCancelCause(w.running)
	defer cancel(nil)
	d := &delivery{work: w, envelope: e, msg: msg, cancel: cancel}
	// A handler that was not waited for keeps its slot until it has ended.
	defer d.calls.Wait()

	// First registered, then looked up in CANCELLED: no cancel falls in between.
	forget := w.cancels.add(e.researchID, cancel)
	defer forget()
	ctx, span := startConsumer(ctx, msg.Headers(), "work "+string(e.kind), e)
	stopHeartbeat := d.heartbeat(ctx)
	defer stopHeartbeat()

	result, err := d.run(ctx)
	outcome, err := d.settle(ctx, result, err)
	endSpan(span, string(outcome), err)
	w.bus.meters.ended(ctx, e.kind, string(outcome))
}

// run comes to the task's result, or to an error that settle knows.
func (d *delivery) run(ctx context.Context) (*workv1.Result, error) {
	if d.stopping.Err() != nil {
		return nil, ErrStopped
	}
	meta, err := d.msg.Metadata()
	if err != nil {
		return nil, fmt.Errorf("read the metadata of a task: %w", err)
	}
	d.bus.meters.begun(ctx, d.kind, meta.Timestamp)
	if d.isPoison(ctx, meta.NumDelivered) {
		return nil, errPoison
	}
	if d.bus.isCancelled(ctx, d.researchID) {
		return nil, ErrCancelled
	}
	body, err := d.bus.body(ctx, d.msg.Headers(), d.msg.Data())
	if errors.Is(err, errBlobMissing) {
		return nil, err
	}
	if err != nil {
		return nil, errors.Join(errOutOfReach, err)
	}
	task, err := d.decode(body)
	if err != nil {
		return nil, &malformed{body: body, reason: err}
	}
	return d.do(ctx, task)
}

// decode refuses a task that is not the one that its message names: its result would
// settle another one.
func (d *delivery) decode(body []byte) (*workv1.Task, error) {
	task := &workv1.Task{}
	err := proto.Unmarshal(body, task)
	if err != nil {
		return nil, err
	}
	e, err := envelopeOf(task)
	if err != nil {
		return nil, err
	}
	if e.kind != d.kind || e.researchID != d.researchID || e.taskID != d.taskID {
		return nil, fmt.Errorf("the body is of the %s task %s of research %s", e.kind, e.taskID, e.researchID)
	}
	d.envelope = e
	return task, nil
}

// do calls the handler under the task's time limit and makes of what it returned the
// task's result. Its error is a cancel or a stop.
func (d *delivery) do(ctx context.Context, task *workv1.Task) (*workv1.Result, error) {
	limited := ctx
	d.limit = task.GetTimeLimit().AsDuration()
	if d.limit > 0 {
		var release context.CancelFunc
		limited, release = context.WithTimeoutCause(ctx, d.limit, ErrTimeLimit)
		defer release()
	}
	started := time.Now()
	answers := make(chan answer, 1)
	d.calls.Go(func() { d.call(limited, task, answers) })
	result, err := d.await(limited, answers)
	d.bus.meters.handled(ctx, d.kind, time.Since(started))

	switch cause := context.Cause(ctx); {
	case errors.Is(cause, ErrCancelled):
		return nil, ErrCancelled
	case errors.Is(cause, ErrStopped) && err != nil:
		return nil, ErrStopped
	}
	if err != nil && errors.Is(context.Cause(limited), ErrTimeLimit) {
		err = asTimedOut(err)
	}
	return complete(task, started, result, err), nil
}

type answer struct {
	result *workv1.Result
	err    error
}

// call turns a panic into an error.
func (d *delivery) call(ctx context.Context, task *workv1.Task, answers chan<- answer) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		d.bus.log.ErrorContext(ctx, "handler panicked", append(d.attributes(), "panic", cause, "stack", string(debug.Stack()))...)
		answers <- answer{err: fault.Transient(fault.Internal, "the %s worker panicked: %v", d.kind, cause)}
	}()
	result, err := d.Handle(ctx, task)
	if result == nil && err == nil {
		err = fault.Permanent(fault.Internal, "the %s worker returned nothing", d.kind)
	}
	answers <- answer{result: result, err: err}
}

// await waits for the handler. One that does not heed the end of its context is
// waited for no longer than a dead worker would be: its task must not hang.
func (d *delivery) await(ctx context.Context, answers <-chan answer) (*workv1.Result, error) {
	select {
	case a := <-answers:
		return a.result, a.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(d.bus.ackWait)
	defer timer.Stop()
	select {
	case a := <-answers:
		return a.result, a.err
	case <-timer.C:
		d.bus.log.ErrorContext(ctx, "handler does not heed its context", append(d.attributes(), "cause", context.Cause(ctx))...)
		return nil, context.Cause(ctx)
	}
}

// asTimedOut keeps what the handler itself made of its deadline, and says of any
// other error that it came from the time limit.
func asTimedOut(err error) error {
	var known *fault.Error
	var deferral *fault.Deferral
	if errors.As(err, &known) || errors.As(err, &deferral) || errors.Is(err, ErrTimeLimit) {
		return err
	}
	return fault.Transient(fault.TimedOut, "the task's time limit is over: %w", err)
}

// complete gives the result its times, and its failure or deferral when err is one.
func complete(task *workv1.Task, started time.Time, result *workv1.Result, err error) *workv1.Result {
	if result == nil {
		result = &workv1.Result{}
	}
	var deferral *fault.Deferral
	switch {
	case errors.As(err, &deferral):
		result = &workv1.Result{
			Usage:    result.GetUsage(),
			Deferred: &workv1.Deferred{Until: timestamppb.New(deferral.Until), Limit: deferral.Limit},
		}
	case err != nil:
		result.Failure = fault.ToProto(err)
	}
	result.Tenant = task.GetTenant()
	result.StartedAt = timestamppb.New(started)
	result.FinishedAt = timestamppb.New(time.Now())
	return result
}

// heartbeat tells the server that the task is in good hands, until the function that
// it returns was called. It also finds a cancel whose broadcast was missed.
func (d *delivery) heartbeat(ctx context.Context) func() {
	// A copy: decode takes attempt and delivery from the body.
	task := d.envelope
	done := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() {
		ticker := time.NewTicker(d.bus.heartbeatEvery())
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
			}
			err := d.msg.InProgress()
			if err != nil {
				d.bus.log.DebugContext(ctx, "heartbeat not sent", append(task.attributes(), "error", err)...)
				continue
			}
			if d.bus.isCancelled(ctx, task.researchID) {
				d.cancel(ErrCancelled)
			}
		}
	})
	return func() {
		close(done)
		beating.Wait()
	}
}
