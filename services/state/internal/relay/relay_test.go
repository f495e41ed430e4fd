package relay_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"github.com/fathom-research/fathom/platform/bus"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/relay"
	"github.com/fathom-research/fathom/services/state/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is an outbox, a builder, a bus and a marker in one.
type desk struct {
	mutex  sync.Mutex
	due    []store.Claimed
	away   bool
	sent   map[string]trace.SpanContext
	marked map[string]bool
}

func newDesk(tasks ...string) *desk {
	d := &desk{sent: make(map[string]trace.SpanContext), marked: make(map[string]bool)}
	for _, id := range tasks {
		d.due = append(d.due, store.Claimed{
			Task:        store.Task{ID: id, ResearchID: "r", Tenant: "default", Kind: bus.Kinds[len(d.due)%len(bus.Kinds)]},
			Traceparent: "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01",
		})
	}
	return d
}

func (d *desk) Claim(context.Context, int, time.Duration) ([]store.Claimed, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	var claimed []store.Claimed
	for _, task := range d.due {
		if !d.marked[task.ID] {
			claimed = append(claimed, task)
		}
	}
	return claimed, nil
}

func (d *desk) NextDue(_ context.Context, limit time.Duration) (time.Duration, error) {
	return limit, nil
}

func (d *desk) Build(_ context.Context, task store.Task) (*workv1.Task, error) {
	return &workv1.Task{TaskId: task.ID}, nil
}

var errAway = errors.New("no bus")

func (d *desk) PublishTask(ctx context.Context, task *workv1.Task) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.away && task.GetTaskId() == "b" {
		return errAway
	}
	d.sent[task.GetTaskId()] = trace.SpanContextFromContext(ctx)
	return nil
}

func (d *desk) Published(ctx context.Context, _, _ string, tasks []store.Task) error {
	return d.MarkSent(ctx, tasks)
}

func (d *desk) MarkSent(_ context.Context, tasks []store.Task) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for _, task := range tasks {
		d.marked[task.ID] = true
	}
	return nil
}

func (d *desk) allMarked() bool {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return len(d.marked) == len(d.due)
}

func (d *desk) relay(wake <-chan struct{}) *relay.Relay {
	return &relay.Relay{Outbox: d, Builder: d, Publisher: d, Marker: d, Logger: slog.New(slog.DiscardHandler), Wake: wake}
}

func TestWhatCannotBePublishedStaysDue(t *testing.T) {
	t.Parallel()
	d := newDesk("a", "b", "c")
	d.away = true
	published, err := d.relay(nil).Once(t.Context())
	require.ErrorIs(t, err, errAway)
	require.Equal(t, 2, published)
	require.Equal(t, map[string]bool{"a": true, "c": true}, d.marked)
	d.away = false
	published, err = d.relay(nil).Once(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, published)
	require.True(t, d.allMarked())
}

func TestTasksArePublishedUnderTheTraceOfTheirResearch(t *testing.T) {
	t.Parallel()
	d := newDesk("a")
	_, err := d.relay(nil).Once(t.Context())
	require.NoError(t, err)
	require.Equal(t, "0123456789abcdef0123456789abcdef", d.sent["a"].TraceID().String())
	require.True(t, d.sent["a"].IsRemote())
}

func TestRunPublishesWhenWoken(t *testing.T) {
	t.Parallel()
	d := newDesk()
	wake := make(chan struct{}, 1)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.relay(wake).Run(ctx) }()
	d.mutex.Lock()
	d.due = newDesk("a", "b").due
	d.mutex.Unlock()
	wake <- struct{}{}
	require.Eventually(t, d.allMarked, 10*time.Second, time.Millisecond)
	stop()
	require.NoError(t, <-ended)
}
