package bus_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/testkit/natstest"
)

func TestWorkRefusesAnImpossibleWorker(t *testing.T) {
	t.Parallel()
	f := setup(t)
	handle := func(context.Context, *workv1.Task) (*workv1.Result, error) { return found(""), nil }
	require.Error(t, f.Work(f.ctx, bus.Worker{Kind: "nonsense", Slots: 1, Handle: handle}))
	require.Error(t, f.Work(f.ctx, bus.Worker{Kind: bus.Search, Handle: handle}))
	require.Error(t, f.Work(f.ctx, bus.Worker{Kind: bus.Search, Slots: 1}))
}

func TestHeartbeatKeepsALongTask(t *testing.T) {
	t.Parallel()
	f := on(t, natstest.Connect(t), time.Second)
	results := f.results()
	var calls atomic.Int32
	proceed := make(chan struct{})
	handle := func(context.Context, *workv1.Task) (*workv1.Result, error) {
		calls.Add(1)
		<-proceed
		return found("long"), nil
	}
	f.work(bus.Worker{Handle: handle})
	f.work(bus.Worker{Handle: handle})
	f.publish(search("t1"))
	none(t, results, 3*time.Second)
	close(proceed)
	receive(t, results)
	require.EqualValues(t, 1, calls.Load())
}

func TestSlotsBoundWhatIsFetched(t *testing.T) {
	t.Parallel()
	f := setupSlow(t)
	const slots = 3
	begun := make(chan string, 20)
	proceed := make(chan struct{})
	f.work(bus.Worker{Slots: slots, Handle: func(_ context.Context, task *workv1.Task) (*workv1.Result, error) {
		begun <- task.GetTaskId()
		<-proceed
		return found("x"), nil
	}})
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		f.publish(search(id))
	}
	for range slots {
		receive(t, begun)
	}
	none(t, begun, ackWait)
	js, err := f.nc.JetStream()
	require.NoError(t, err)
	info, err := js.ConsumerInfo("TASKS", "search")
	require.NoError(t, err)
	require.Equal(t, slots, info.NumAckPending, "fetched without a free slot")
	close(proceed)
	f.eventuallyEmpty("TASKS")
}

// crash takes the task as a worker would and never answers for it.
func (f *fixture) crash(kind bus.Kind) {
	f.t.Helper()
	js, err := jetstream.New(f.nc)
	require.NoError(f.t, err)
	consumer, err := js.Consumer(f.ctx, "TASKS", string(kind))
	require.NoError(f.t, err)
	_, err = consumer.Next(jetstream.FetchMaxWait(patience))
	require.NoError(f.t, err)
}

func TestTaskOfADeadWorkerIsRedelivered(t *testing.T) {
	t.Parallel()
	f := setup(t)
	results := f.results()
	f.publish(search("t1"))
	f.crash(bus.Search)
	f.work(bus.Worker{Handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
		return found("second"), nil
	}})
	require.Equal(t, "t1", receive(t, results).GetTaskId())
}

func TestTaskThatKillsItsWorkersFails(t *testing.T) {
	t.Parallel()
	f := setup(t)
	results := f.results()
	f.publish(search("t1"))
	for range 5 {
		f.crash(bus.Search)
	}
	f.work(bus.Worker{Handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
		return found("never"), nil
	}})
	result := receive(t, results)
	require.Equal(t, "t1", result.GetTaskId())
	require.EqualValues(t, 2, result.GetAttempt())
	require.EqualValues(t, 1, result.GetDelivery())
	require.Equal(t, string(fault.WorkerDied), result.GetFailure().GetCode())
	require.True(t, result.GetFailure().GetRetryable())
	f.eventuallyEmpty("TASKS")
	none(t, results, 2*ackWait)
}

func TestStopLetsRunningTasksFinish(t *testing.T) {
	t.Parallel()
	f := setupSlow(t)
	results := f.results()
	begun := make(chan struct{})
	proceed := make(chan struct{})
	stop := f.work(bus.Worker{Handle: func(ctx context.Context, _ *workv1.Task) (*workv1.Result, error) {
		close(begun)
		select {
		case <-proceed:
			return found("finished"), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}})
	f.publish(search("t1"))
	receive(t, begun)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop()
	}()
	none(t, stopped, ackWait)
	close(proceed)
	receive(t, stopped)
	require.NotNil(t, receive(t, results).GetSearch())
	f.eventuallyEmpty("TASKS")
}

func TestStoppedTaskIsRedeliveredAtOnce(t *testing.T) {
	t.Parallel()
	nc := setup(t).nc
	// With this AckWait nothing but a hand-back redelivers in time.
	b, err := bus.Open(nc, bus.Options{AckWait: time.Hour, Logger: logger()})
	require.NoError(t, err)
	require.NoError(t, b.Provision(t.Context()))
	f := &fixture{Bus: b, t: t, nc: nc, ctx: t.Context()}

	results := f.results()
	begun := make(chan struct{})
	causes := make(chan error, 1)
	stop := f.work(bus.Worker{Grace: time.Millisecond, Handle: func(ctx context.Context, _ *workv1.Task) (*workv1.Result, error) {
		close(begun)
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return nil, fault.Transient(fault.Unavailable, "half done")
	}})
	f.publish(search("t1"))
	receive(t, begun)
	stop()
	require.ErrorIs(t, receive(t, causes), bus.ErrStopped)

	f.work(bus.Worker{Handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
		return found("second"), nil
	}})
	result := receive(t, results)
	require.NotNil(t, result.GetSearch())
	require.EqualValues(t, 2, result.GetAttempt())
}

// Far more rolling restarts than deaths are forgiven: none of them is a death.
func TestRollingRestartsUseUpNothing(t *testing.T) {
	t.Parallel()
	f := setup(t)
	results := f.results()
	f.publish(search("t1"))
	for range 12 {
		begun := make(chan struct{})
		stop := f.work(bus.Worker{Grace: time.Nanosecond, Handle: func(ctx context.Context, _ *workv1.Task) (*workv1.Result, error) {
			close(begun)
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}})
		receive(t, begun)
		stop()
	}
	// Deaths are still told apart from them.
	for range 4 {
		f.crash(bus.Search)
	}
	f.work(bus.Worker{Handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
		return found("at last"), nil
	}})
	result := receive(t, results)
	require.Nil(t, result.GetFailure())
	require.Equal(t, "https://example.org/at last", result.GetSearch().GetHits()[0].GetUrl())
	none(t, results, 2*ackWait)
}

// A handler that does not heed its context holds its slot, but not its task.
func TestTaskDoesNotHangWithItsHandler(t *testing.T) {
	t.Parallel()
	f := setup(t)
	results := f.results()
	proceed := make(chan struct{})
	f.work(bus.Worker{Handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
		<-proceed
		return found("late"), nil
	}})
	task := search("t1")
	task.TimeLimit = durationpb.New(10 * time.Millisecond)
	f.publish(task)
	result := receive(t, results)
	require.Equal(t, string(fault.TimedOut), result.GetFailure().GetCode())
	require.True(t, result.GetFailure().GetRetryable())
	f.eventuallyEmpty("TASKS")

	f.publish(search("t2"))
	none(t, results, ackWait)
	close(proceed)
	require.Equal(t, "t2", receive(t, results).GetTaskId())
}
