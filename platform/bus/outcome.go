package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// outcome is how a delivery ended: a label of the metrics and the spans.
type outcome string

const (
	succeeded   outcome = "ok"
	failed      outcome = "failed"
	deferred    outcome = "deferred"
	cancelled   outcome = "cancelled"
	stopped     outcome = "stopped"
	diedBefore  outcome = "worker_died"
	undecodable outcome = "malformed"
	bodyLost    outcome = "body_lost"
	unreachable outcome = "out_of_reach"
	unpublished outcome = "unpublished"
	unsettled   outcome = "unsettled"
)

var (
	errPoison     = errors.New("the workers that had the task died")
	errOutOfReach = errors.New("the task's body can't be read now")
)

// malformed is a task that can't be decoded.
type malformed struct {
	body   []byte
	reason error
}

func (m *malformed) Error() string { return "the task can't be decoded: " + m.reason.Error() }

// giveBackAfter is the pause before a task that a fault of the bus has stopped is
// tried again.
const giveBackAfter = time.Second

// settle is the outcome table: what becomes of a task for each way its delivery ends.
//
//	result, fault, deferral, panic   published as a result, then the task is acked
//	stopped                          handed back: redelivered at once
//	cancelled                        removed, no result
//	the workers before died          Failure{worker_died}, then acked
//	the body is lost                 removed: the sweeper finds the task lost
//	the body is out of reach         handed back, with a pause
//	can't be decoded                 copied to DEAD, Failure{malformed}, removed
func (d *delivery) settle(ctx context.Context, result *workv1.Result, err error) (outcome, error) {
	var undecoded *malformed
	switch {
	case err == nil:
		return d.report(ctx, result)
	case errors.Is(err, ErrCancelled):
		d.remove(ctx, ErrCancelled.Error())
		return cancelled, nil
	case errors.Is(err, ErrStopped):
		d.handBack(ctx, 0)
		return stopped, nil
	case errors.Is(err, errPoison):
		_, failure := d.report(ctx, d.failure(fault.Transient(fault.WorkerDied,
			"%d workers had this task and did not answer for it", maxCrashes)))
		return diedBefore, failure
	case errors.Is(err, errBlobMissing):
		d.remove(ctx, err.Error())
		d.bus.log.WarnContext(ctx, "task without its body", append(d.attributes(), "error", err)...)
		return bodyLost, err
	case errors.As(err, &undecoded):
		return d.bury(ctx, undecoded)
	default:
		d.bus.log.WarnContext(ctx, "task handed back", append(d.attributes(), "error", err)...)
		d.handBack(ctx, giveBackAfter)
		return unreachable, err
	}
}

// report publishes the result and acks the task, in this order: a death in between
// makes a second result and never none.
func (d *delivery) report(ctx context.Context, result *workv1.Result) (outcome, error) {
	o := outcomeOf(result)
	body, err := d.encode(result)
	if err != nil {
		return failed, err
	}
	err = d.persist(ctx, "result not published, will try again", func(ctx context.Context) error {
		return d.bus.publishResult(ctx, d.envelope, body)
	})
	switch {
	case errors.Is(err, ErrCancelled):
		d.remove(ctx, ErrCancelled.Error())
		return cancelled, nil
	case err != nil:
		d.handBack(ctx, giveBackAfter)
		return unpublished, err
	}
	return o, d.ack(ctx)
}

func outcomeOf(result *workv1.Result) outcome {
	switch {
	case result.GetDeferred() != nil:
		return deferred
	case result.GetFailure() != nil:
		return failed
	default:
		return succeeded
	}
}

// encode makes a failure of a result that is too large to be carried.
func (d *delivery) encode(result *workv1.Result) ([]byte, error) {
	d.stamp(result)
	result.Worker = d.bus.process
	if size := proto.Size(result); size > maxBody {
		substitute := d.failure(tooLarge(size))
		substitute.Usage, substitute.Tenant = result.GetUsage(), result.GetTenant()
		substitute.StartedAt, substitute.FinishedAt = result.GetStartedAt(), result.GetFinishedAt()
		result = substitute
	}
	body, err := proto.Marshal(result)
	if err == nil {
		return body, nil
	}
	// Only a handler's invalid UTF-8 comes here; a failure's message is made valid.
	body, err = proto.Marshal(d.failure(fault.Permanent(fault.Internal, "the result can't be encoded: %q", err.Error())))
	if err != nil {
		return nil, fmt.Errorf("encode the failure of a task: %w", err)
	}
	return body, nil
}

func (d *delivery) failure(err error) *workv1.Result {
	result := &workv1.Result{Failure: fault.ToProto(err), Worker: d.bus.process}
	d.stamp(result)
	return result
}

// persist tries until it succeeded, while heartbeats go on. The task's time limit is
// counted anew for it, so that a finished piece of work is not lost to a short
// trouble; a cancel and the end of a stop's grace end it after the first try.
func (d *delivery) persist(ctx context.Context, trouble string, try func(context.Context) error) error {
	deadline := time.Now().Add(max(d.limit, d.bus.ackWait))
	retry := newBackoff(50*time.Millisecond, 2*time.Second)
	for {
		err := once(ctx, try)
		if err == nil {
			return nil
		}
		d.bus.log.WarnContext(ctx, trouble, append(d.attributes(), "error", err)...)
		if time.Now().After(deadline) {
			return err
		}
		if !retry.wait(ctx) {
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

// once is not cut short by a stop: a first try is always made.
func once(ctx context.Context, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), blobTimeout)
	defer cancel()
	return try(ctx)
}

// bury settles a task that can't be decoded by the ids of its subject. It is acked
// like any other: to NATS that is the same as a Term, and it is confirmed.
func (d *delivery) bury(ctx context.Context, m *malformed) (outcome, error) {
	failure := fault.Permanent(fault.Malformed, "%w", m)
	err := d.persist(ctx, "task not buried, will try again", func(ctx context.Context) error {
		return d.bus.bury(ctx, d.envelope, m.body, fault.ToProto(failure))
	})
	if err != nil {
		d.handBack(ctx, giveBackAfter)
		return unpublished, err
	}
	_, err = d.report(ctx, d.failure(failure))
	return undecodable, errors.Join(failure, err)
}

// ack waits for the server's word, so that the task is known to be gone. When it
// does not come the task is redelivered and its second result dropped.
func (d *delivery) ack(ctx context.Context) error {
	acking, cancel := asking(context.WithoutCancel(ctx))
	defer cancel()
	err := d.msg.DoubleAck(acking)
	if err != nil {
		d.bus.log.WarnContext(ctx, "task not acked", append(d.attributes(), "error", err)...)
		return fmt.Errorf("ack: %w", err)
	}
	d.bus.dropBlob(ctx, d.msg.Headers())
	return nil
}

// remove takes the task out of the queue.
func (d *delivery) remove(ctx context.Context, reason string) {
	err := d.msg.TermWithReason(reason)
	if err != nil {
		d.bus.log.WarnContext(ctx, "task not removed", append(d.attributes(), "error", err)...)
		return
	}
	d.bus.dropBlob(ctx, d.msg.Headers())
}
