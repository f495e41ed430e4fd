package bus_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/fathom-research/fathom/platform/bus"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/testkit/natstest"
)

const (
	// ackWait is short where redelivery is waited for; slowWait is for tests in which
	// none must come, however busy the machine is.
	ackWait  = 200 * time.Millisecond
	slowWait = 2 * time.Second
	patience = 20 * time.Second
	often    = 5 * time.Millisecond
)

// fixture is a bus on a fresh server.
type fixture struct {
	*bus.Bus
	t   *testing.T
	nc  *nats.Conn
	ctx context.Context
}

func setup(t *testing.T) *fixture {
	t.Helper()
	return on(t, natstest.Connect(t), ackWait)
}

func setupSlow(t *testing.T) *fixture {
	t.Helper()
	return on(t, natstest.Connect(t), slowWait)
}

func on(t *testing.T, nc *nats.Conn, ackWait time.Duration) *fixture {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	b, err := bus.Open(nc, bus.Options{AckWait: ackWait, Logger: logger()})
	require.NoError(t, err)
	require.NoError(t, b.Provision(ctx))
	return &fixture{Bus: b, t: t, nc: nc, ctx: ctx}
}

func logger() *slog.Logger {
	if testing.Verbose() {
		return slog.Default()
	}
	return slog.New(slog.DiscardHandler)
}

// background runs fn until the test ends or the function that it returns is called,
// and waits for it.
func (f *fixture) background(fn func(ctx context.Context) error) func() {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.ctx)
	ended := make(chan error, 1)
	go func() { ended <- fn(ctx) }()
	var stopped atomic.Bool
	stop := func() {
		if stopped.Swap(true) {
			return
		}
		cancel()
		select {
		case err := <-ended:
			require.NoError(f.t, err)
		case <-time.After(patience):
			f.t.Error("does not stop")
		}
	}
	f.t.Cleanup(stop)
	return stop
}

func (f *fixture) work(worker bus.Worker) func() {
	f.t.Helper()
	if worker.Kind == "" {
		worker.Kind = bus.Search
	}
	if worker.Slots == 0 {
		worker.Slots = 1
	}
	return f.background(func(ctx context.Context) error { return f.Work(ctx, worker) })
}

// results receives the results that are applied from now on.
func (f *fixture) results() <-chan *workv1.Result {
	f.t.Helper()
	results := make(chan *workv1.Result, 1000)
	f.background(func(ctx context.Context) error {
		return f.Results(ctx, 4, func(_ context.Context, result *workv1.Result) error {
			results <- result
			return nil
		})
	})
	return results
}

func (f *fixture) publish(task *workv1.Task) {
	f.t.Helper()
	require.NoError(f.t, f.PublishTask(f.ctx, task))
}

func (f *fixture) queued(stream string) uint64 {
	f.t.Helper()
	js, err := f.nc.JetStream()
	require.NoError(f.t, err)
	info, err := js.StreamInfo(stream)
	require.NoError(f.t, err)
	return info.State.Msgs
}

func (f *fixture) eventuallyEmpty(stream string) {
	f.t.Helper()
	require.Eventually(f.t, func() bool { return f.queued(stream) == 0 }, patience, often)
}

func search(id string) *workv1.Task {
	return &workv1.Task{
		ResearchId: "r1", TaskId: id, Tenant: "default", Attempt: 2, Delivery: 1,
		TimeLimit: durationpb.New(10 * time.Second),
		Payload:   &workv1.Task_Search{Search: &workv1.SearchTask{Query: "what " + id, Limit: 7}},
	}
}

func found(query string) *workv1.Result {
	return &workv1.Result{Payload: &workv1.Result_Search{Search: &workv1.SearchResult{
		Hits: []*workv1.Hit{{Url: "https://example.org/" + query}},
	}}}
}

func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(patience):
		require.FailNow(t, "nothing came")
		panic("unreachable")
	}
}

func none[T any](t *testing.T, from <-chan T, within time.Duration) {
	t.Helper()
	select {
	case value := <-from:
		require.FailNow(t, "something came", "%v", value)
	case <-time.After(within):
	}
}

func encode(t *testing.T, task *workv1.Task) []byte {
	t.Helper()
	body, err := proto.Marshal(task)
	require.NoError(t, err)
	return body
}
