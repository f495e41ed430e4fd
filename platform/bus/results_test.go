package bus_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/bus"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/testkit/natstest"
)

func TestResultsRefusesTheImpossible(t *testing.T) {
	t.Parallel()
	f := setup(t)
	require.Error(t, f.Results(f.ctx, 0, func(context.Context, *workv1.Result) error { return nil }))
	require.Error(t, f.Results(f.ctx, 1, nil))
}

// A result outlives every failure to apply it, a panic too: also more of them than
// a consumer with a usual limit would deliver it.
func TestResultComesAgainUntilItIsApplied(t *testing.T) {
	t.Parallel()
	f := setupSlow(t)
	f.work(bus.Worker{Handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
		return found("x"), nil
	}})
	var calls atomic.Int32
	applied := make(chan *workv1.Result, 1)
	f.background(func(ctx context.Context) error {
		return f.Results(ctx, 2, func(_ context.Context, result *workv1.Result) error {
			switch n := calls.Add(1); {
			case n == 1:
				panic("no database")
			case n < 5:
				return errors.New("no database")
			}
			applied <- result
			return nil
		})
	})
	f.publish(search("t1"))
	require.Equal(t, "t1", receive(t, applied).GetTaskId())
	f.eventuallyEmpty("RESULTS")
	require.EqualValues(t, 5, calls.Load())
}

func TestLongApplyIsNotRepeated(t *testing.T) {
	t.Parallel()
	f := on(t, natstest.Connect(t), time.Second)
	f.work(bus.Worker{Handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
		return found("x"), nil
	}})
	calls := make(chan struct{}, 10)
	proceed := make(chan struct{})
	f.background(func(ctx context.Context) error {
		return f.Results(ctx, 4, func(context.Context, *workv1.Result) error {
			calls <- struct{}{}
			<-proceed
			return nil
		})
	})
	f.publish(search("t1"))
	receive(t, calls)
	none(t, calls, 3*time.Second)
	close(proceed)
	f.eventuallyEmpty("RESULTS")
	require.Empty(t, calls)
}

func TestStopOfResultsGivesBackWhatIsNotApplied(t *testing.T) {
	t.Parallel()
	f := setupSlow(t)
	f.work(bus.Worker{Handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
		return found("x"), nil
	}})
	begun := make(chan struct{}, 10)
	stop := f.background(func(ctx context.Context) error {
		return f.Results(ctx, 1, func(ctx context.Context, _ *workv1.Result) error {
			begun <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		})
	})
	f.publish(search("t1"))
	f.publish(search("t2"))
	receive(t, begun)
	stop()
	results := f.results()
	ids := []string{receive(t, results).GetTaskId(), receive(t, results).GetTaskId()}
	require.ElementsMatch(t, []string{"t1", "t2"}, ids)
	f.eventuallyEmpty("RESULTS")
}

func TestUndecodableResultIsDropped(t *testing.T) {
	t.Parallel()
	f := setup(t)
	js, err := f.nc.JetStream()
	require.NoError(t, err)
	_, err = js.Publish("fathom.result.search.r1.t1", []byte("\xff\xff"))
	require.NoError(t, err)
	_, err = js.Publish("fathom.result.short", []byte("x"))
	require.NoError(t, err)
	results := f.results()
	f.eventuallyEmpty("RESULTS")
	require.Empty(t, results)
}
