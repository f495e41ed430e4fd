package bus_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/bus"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/testkit/natstest"
)

func over(t *testing.T, server *natstest.Server) *fixture {
	t.Helper()
	nc, err := bus.Connect(server.URL(), t.Name())
	require.NoError(t, err)
	closed := make(chan struct{})
	t.Cleanup(func() {
		nc.SetClosedHandler(func(*nats.Conn) { close(closed) })
		nc.Close()
		receive(t, closed)
	})
	return on(t, nc, slowWait)
}

func apply(context.Context, *workv1.Result) error { return nil }

func echo(_ context.Context, task *workv1.Task) (*workv1.Result, error) {
	return found(task.GetTaskId()), nil
}

func TestWorkGoesOnAfterARestartOfTheServer(t *testing.T) {
	t.Parallel()
	server := natstest.Start(t)
	f := over(t, server)
	results := f.results()
	f.work(bus.Worker{Slots: 2, Handle: echo})
	f.publish(search("t1"))
	require.Equal(t, "t1", receive(t, results).GetTaskId())

	f.publish(search("t2"))
	receive(t, results)
	server.Restart()
	require.Eventually(t, func() bool { return f.PublishTask(f.ctx, search("t3")) == nil }, patience, often)
	require.Equal(t, "t3", receive(t, results).GetTaskId())
	f.eventuallyEmpty("TASKS")
	f.eventuallyEmpty("RESULTS")
}

// A server that comes back with nothing gets everything again from who provisions at
// a reconnect, and workers and state go on by themselves.
func TestWorkGoesOnAfterTheStoreIsLost(t *testing.T) {
	t.Parallel()
	server := natstest.Start(t)
	f := over(t, server)
	provisioned := make(chan struct{}, 10)
	f.OnReconnect(func() { provisioned <- struct{}{} })
	f.background(func(ctx context.Context) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-provisioned:
				_ = f.Provision(ctx)
			}
		}
	})
	results := f.results()
	f.work(bus.Worker{Slots: 2, Handle: echo})
	f.publish(search("t1"))
	require.Equal(t, "t1", receive(t, results).GetTaskId())

	server.LoseStore()
	require.Eventually(t, func() bool { return f.PublishTask(f.ctx, search("t1")) == nil }, patience, often)
	require.Equal(t, "t1", receive(t, results).GetTaskId())
	require.NoError(t, f.Journal("t1").Put(f.ctx, "0", []byte("again")))
	f.eventuallyEmpty("RESULTS")
}

// Streams that vanish under a living connection are noticed too.
func TestWorkGoesOnAfterItsStreamIsMadeAgain(t *testing.T) {
	t.Parallel()
	f := setup(t)
	results := f.results()
	f.work(bus.Worker{Handle: echo})
	f.publish(search("t1"))
	receive(t, results)
	js, err := f.nc.JetStream()
	require.NoError(t, err)
	require.NoError(t, js.DeleteStream("TASKS"))
	require.NoError(t, js.DeleteStream("RESULTS"))
	require.NoError(t, f.Provision(f.ctx))
	f.publish(search("t2"))
	require.Equal(t, "t2", receive(t, results).GetTaskId())
}

// A task that runs while the server is away is done once.
func TestRunningTaskOutlivesItsServer(t *testing.T) {
	t.Parallel()
	server := natstest.Start(t)
	f := over(t, server)
	begun := make(chan struct{}, 10)
	proceed := make(chan struct{})
	var calls atomic.Int32
	f.work(bus.Worker{Handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
		calls.Add(1)
		begun <- struct{}{}
		<-proceed
		return found("x"), nil
	}})
	f.publish(search("t1"))
	receive(t, begun)
	server.Stop()
	close(proceed)
	server.Restart()
	require.Equal(t, "t1", receive(t, f.results()).GetTaskId())
	f.eventuallyEmpty("TASKS")
}

// Connect and Open do not need the server; work begins when it is there.
func TestServerMayComeLate(t *testing.T) {
	t.Parallel()
	server := natstest.Start(t)
	url := server.URL()
	server.Stop()
	nc, err := bus.Connect(url, "late")
	require.NoError(t, err)
	closed := make(chan struct{})
	t.Cleanup(func() {
		nc.SetClosedHandler(func(*nats.Conn) { close(closed) })
		nc.Close()
		receive(t, closed)
	})
	b, err := bus.Open(nc, bus.Options{AckWait: slowWait, Logger: logger()})
	require.NoError(t, err)
	f := &fixture{Bus: b, t: t, nc: nc, ctx: t.Context()}
	connected := make(chan struct{}, 10)
	f.OnReconnect(func() { connected <- struct{}{} })
	require.Error(t, f.Provision(f.ctx))
	results := f.results()
	f.work(bus.Worker{Handle: echo})

	server.Restart()
	receive(t, connected)
	require.NoError(t, f.Provision(f.ctx))
	f.publish(search("t1"))
	require.Equal(t, "t1", receive(t, results).GetTaskId())
}
