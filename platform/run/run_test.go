package run_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fathom-research/fathom/platform/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func until(ended *atomic.Int32) func(context.Context) error {
	return func(ctx context.Context) error {
		<-ctx.Done()
		ended.Add(1)
		return ctx.Err()
	}
}

func TestAllStopsEveryPartWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var ended atomic.Int32
	cancel()
	err := run.All(ctx, run.Part{Name: "a", Run: until(&ended)}, run.Part{Name: "b", Run: until(&ended)})
	require.NoError(t, err)
	require.EqualValues(t, 2, ended.Load())
}

func TestAllStopsTheOthersWhenOneFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	var ended atomic.Int32
	err := run.All(t.Context(),
		run.Part{Name: "a", Run: until(&ended)},
		run.Part{Name: "b", Run: func(context.Context) error { return broken }})
	require.ErrorIs(t, err, broken)
	require.EqualError(t, err, "b: broken")
	require.EqualValues(t, 1, ended.Load())
}

// A part that ends without a reason would leave half a process behind.
func TestAllTakesAnEarlyEndForAFailure(t *testing.T) {
	t.Parallel()
	var ended atomic.Int32
	for _, early := range []error{nil, fmt.Errorf("call: %w", context.Canceled)} {
		err := run.All(t.Context(),
			run.Part{Name: "a", Run: until(&ended)},
			run.Part{Name: "b", Run: func(context.Context) error { return early }})
		require.EqualError(t, err, "b: ended by itself")
	}
}

// Not parallel: it sends the process a signal.
func TestMainEndsOnASignal(t *testing.T) {
	status := run.Main(func(ctx context.Context) error {
		err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM)
		if err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	})
	require.Equal(t, 0, status)
}

func TestMainTellsAFailure(t *testing.T) {
	t.Parallel()
	require.Equal(t, 1, run.Main(func(context.Context) error { return errors.New("no database") }))
	require.Equal(t, 0, run.Main(func(context.Context) error { return nil }))
}
