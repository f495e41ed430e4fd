package bus_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
)

// another is a second process on the same server.
func (f *fixture) another() *fixture {
	f.t.Helper()
	b, err := bus.Open(f.nc, bus.Options{AckWait: ackWait})
	require.NoError(f.t, err)
	return &fixture{Bus: b, t: f.t, nc: f.nc, ctx: f.ctx}
}

func TestTakeKeepsItsBoundsUnderPressure(t *testing.T) {
	t.Parallel()
	f := setup(t)
	pods := []*fixture{f, f.another(), f.another(), f.another()}
	limit := bus.Limit{Key: "host:example.org", Concurrent: 3, Gap: 10 * time.Millisecond, Wait: patience}
	var holders, most atomic.Int32
	var mu sync.Mutex
	var starts []time.Time
	var takers sync.WaitGroup
	for i := range 64 {
		takers.Go(func() {
			release, err := pods[i%len(pods)].Take(f.ctx, limit)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			starts = append(starts, time.Now())
			mu.Unlock()
			n := holders.Add(1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			<-time.After(5 * time.Millisecond)
			holders.Add(-1)
			release()
			release()
		})
	}
	takers.Wait()
	require.Len(t, starts, 64)
	require.LessOrEqual(t, most.Load(), int32(limit.Concurrent))

	// A taker may see its start late and the next one in time: over many starts that
	// does not add up.
	slices.SortFunc(starts, time.Time.Compare)
	const run, late = 16, 100 * time.Millisecond
	for i := run; i < len(starts); i++ {
		require.GreaterOrEqual(t, starts[i].Sub(starts[i-run])+late, run*limit.Gap)
	}
	require.GreaterOrEqual(t, starts[63].Sub(starts[0])+late, 63*limit.Gap)
}

func requireDeferral(t *testing.T, err error) *fault.Deferral {
	t.Helper()
	var deferral *fault.Deferral
	require.ErrorAs(t, err, &deferral)
	return deferral
}

func TestTakeDefersWhenEveryPlaceIsTaken(t *testing.T) {
	t.Parallel()
	f := setup(t)
	limit := bus.Limit{Key: "model:a", Concurrent: 1}
	release, err := f.Take(f.ctx, limit)
	require.NoError(t, err)

	var last time.Time
	for range 5 {
		before := time.Now()
		_, err = f.another().Take(f.ctx, limit)
		deferral := requireDeferral(t, err)
		require.Equal(t, "model:a", deferral.Limit)
		require.True(t, deferral.Until.After(before))
		require.True(t, deferral.Until.After(last), "deferred tasks come back one after the other")
		last = deferral.Until
	}
	release()
	release, err = f.another().Take(f.ctx, limit)
	require.NoError(t, err)
	release()
}

func TestTakeWaitsForAPlace(t *testing.T) {
	t.Parallel()
	f := setup(t)
	limit := bus.Limit{Key: "model:a", Concurrent: 1, Wait: patience}
	for _, pod := range []*fixture{f, f.another()} {
		first, err := f.Take(f.ctx, limit)
		require.NoError(t, err)
		taken := make(chan error, 1)
		go func() {
			release, err := pod.Take(f.ctx, limit)
			if err == nil {
				release()
			}
			taken <- err
		}()
		none(t, taken, 50*time.Millisecond)
		first()
		require.NoError(t, receive(t, taken))
	}
}

func TestPlaceOfADeadHolderExpires(t *testing.T) {
	t.Parallel()
	f := setup(t)
	limit := bus.Limit{Key: "model:a", Concurrent: 1, Hold: 100 * time.Millisecond, Wait: patience}
	begun := time.Now()
	_, err := f.Take(f.ctx, limit)
	require.NoError(t, err)
	release, err := f.another().Take(f.ctx, limit)
	require.NoError(t, err)
	require.GreaterOrEqual(t, time.Since(begun), limit.Hold)
	release()
}

func TestPenaltyBindsEverybody(t *testing.T) {
	t.Parallel()
	f := setup(t)
	until := time.Now().Add(time.Minute)
	require.NoError(t, f.Penalize(f.ctx, "model:a", until))
	require.NoError(t, f.Penalize(f.ctx, "model:a", until.Add(-time.Second)))
	for _, limit := range []bus.Limit{
		{Key: "model:a"},
		{Key: "model:a", Concurrent: 8},
		{Key: "model:a", Gap: time.Millisecond, Wait: time.Second},
	} {
		_, err := f.another().Take(f.ctx, limit)
		require.False(t, requireDeferral(t, err).Until.Before(until))
	}
	release, err := f.Take(f.ctx, bus.Limit{Key: "model:b"})
	require.NoError(t, err)
	release()
}

// A place that was reserved for later heeds a penalty that comes in between.
func TestPenaltyBindsThoseWhoWait(t *testing.T) {
	t.Parallel()
	f := setup(t)
	limit := bus.Limit{Key: "host:a", Gap: 200 * time.Millisecond, Wait: patience}
	_, err := f.Take(f.ctx, limit)
	require.NoError(t, err)
	taken := make(chan time.Time, 1)
	go func() {
		release, err := f.Take(f.ctx, limit)
		if err == nil {
			release()
		}
		taken <- time.Now()
	}()
	until := time.Now().Add(600 * time.Millisecond)
	require.NoError(t, f.Penalize(f.ctx, limit.Key, until))
	require.False(t, receive(t, taken).Before(until))
}

func TestTakeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	f := setup(t)
	limit := bus.Limit{Key: "host:a", Concurrent: 1, Wait: patience}
	release, err := f.Take(f.ctx, limit)
	require.NoError(t, err)
	defer release()
	cause := errors.New("no longer wanted")
	ctx, cancel := context.WithCancelCause(f.ctx)
	taken := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := f.Take(ctx, limit)
			taken <- err
		}()
	}
	none(t, taken, 20*time.Millisecond)
	cancel(cause)
	require.ErrorIs(t, receive(t, taken), cause)
	require.ErrorIs(t, receive(t, taken), cause)
}

// Without its bucket nothing is known of the limit: the task comes again.
func TestTakeDefersWithoutItsBucket(t *testing.T) {
	t.Parallel()
	f := setup(t)
	js, err := f.nc.JetStream()
	require.NoError(t, err)
	require.NoError(t, js.DeleteKeyValue("TOKENS"))
	_, err = f.Take(f.ctx, bus.Limit{Key: "host:a", Concurrent: 1})
	require.True(t, requireDeferral(t, err).Until.After(time.Now()))
	require.NoError(t, f.Provision(f.ctx))
	release, err := f.Take(f.ctx, bus.Limit{Key: "host:a", Concurrent: 1})
	require.NoError(t, err)
	release()
}
