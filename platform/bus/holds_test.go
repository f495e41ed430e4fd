package bus_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/bus"
)

func TestHolds(t *testing.T) {
	t.Parallel()
	f := setup(t)
	holds := func(want bool) {
		t.Helper()
		held, err := f.Holds(f.ctx, bus.Search, "r1", "t1")
		require.NoError(t, err)
		require.Equal(t, want, held)
	}
	holds(false)
	f.publish(search("t1"))
	holds(true)
	f.crash(bus.Search)
	holds(true)
	f.work(bus.Worker{Handle: echo})
	f.eventuallyEmpty("TASKS")
	holds(true) // its result
	stop := f.background(func(ctx context.Context) error {
		return f.Results(ctx, 1, apply)
	})
	f.eventuallyEmpty("RESULTS")
	stop()
	holds(false)
	_, err := f.Holds(f.ctx, bus.Search, "*", "t1")
	require.Error(t, err)
}
