package bus_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/bus"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

func TestCancelStopsARunningTask(t *testing.T) {
	t.Parallel()
	f := setupSlow(t)
	results := f.results()
	begun := make(chan struct{}, 10)
	causes := make(chan error, 10)
	f.work(bus.Worker{Slots: 2, Handle: func(ctx context.Context, task *workv1.Task) (*workv1.Result, error) {
		if task.GetResearchId() != "r1" {
			return found("other"), nil
		}
		begun <- struct{}{}
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return found("not wanted"), nil
	}})
	f.publish(search("t1"))
	receive(t, begun)
	require.NoError(t, f.CancelResearch(f.ctx, "r1"))
	require.ErrorIs(t, receive(t, causes), bus.ErrCancelled)
	f.eventuallyEmpty("TASKS")

	other := search("t2")
	other.ResearchId = "r2"
	f.publish(other)
	require.Equal(t, "r2", receive(t, results).GetResearchId())
	none(t, results, 2*ackWait)
}

func TestCancelRemovesQueuedTasks(t *testing.T) {
	t.Parallel()
	f := setupSlow(t)
	f.publish(search("t1"))
	f.publish(search("t2"))
	other := search("t3")
	other.ResearchId = "r2"
	f.publish(other)
	require.NoError(t, f.CancelResearch(f.ctx, "r1"))
	require.EqualValues(t, 1, f.queued("TASKS"))
}

// A task that the relay published after the purge is not begun.
func TestCancelledTaskIsNotBegun(t *testing.T) {
	t.Parallel()
	f := setupSlow(t)
	results := f.results()
	require.NoError(t, f.CancelResearch(f.ctx, "r1"))
	f.publish(search("t1"))
	calls := make(chan struct{}, 1)
	f.work(bus.Worker{Handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
		calls <- struct{}{}
		return found("never"), nil
	}})
	f.eventuallyEmpty("TASKS")
	require.Empty(t, calls)
	none(t, results, ackWait)
}

// A worker that missed the broadcast finds the mark at its next heartbeat.
func TestCancelIsFoundWithoutItsBroadcast(t *testing.T) {
	t.Parallel()
	f := setup(t)
	begun := make(chan struct{}, 1)
	causes := make(chan error, 1)
	f.work(bus.Worker{Handle: func(ctx context.Context, _ *workv1.Task) (*workv1.Result, error) {
		begun <- struct{}{}
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return nil, ctx.Err()
	}})
	f.publish(search("t1"))
	receive(t, begun)
	js, err := f.nc.JetStream()
	require.NoError(t, err)
	bucket, err := js.KeyValue("CANCELLED")
	require.NoError(t, err)
	_, err = bucket.Put("r1", nil)
	require.NoError(t, err)
	require.ErrorIs(t, receive(t, causes), bus.ErrCancelled)
}

func TestCancelRefusesAWildcard(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.publish(search("t1"))
	for _, id := range []string{"", "*", ">", "a.b", "a b"} {
		require.Error(t, f.CancelResearch(f.ctx, id), "%q", id)
	}
	require.EqualValues(t, 1, f.queued("TASKS"))
}
