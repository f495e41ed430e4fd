package bus_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/testkit/natstest"
)

func TestListenWakes(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ctx, cancel := context.WithCancel(f.ctx)
	wakes, err := f.Listen(ctx, "r1")
	require.NoError(t, err)
	others, err := f.another().Listen(f.ctx, "r2")
	require.NoError(t, err)

	require.NoError(t, f.another().Announce(f.ctx, "r1"))
	receive(t, wakes)
	for range 1000 {
		require.NoError(t, f.Announce(f.ctx, "r1"))
	}
	receive(t, wakes)
	require.Empty(t, others)
	cancel()
	require.Eventually(t, func() bool {
		_, open := <-wakes
		return !open
	}, patience, often)

	_, err = f.Listen(f.ctx, "r.*")
	require.Error(t, err)
	require.Error(t, f.Announce(f.ctx, ">"))
}

// An announcement made while the listener was cut off is not missed.
func TestListenWakesAfterAReconnect(t *testing.T) {
	t.Parallel()
	server := natstest.Start(t)
	f := over(t, server)
	wakes, err := f.Listen(f.ctx, "r1")
	require.NoError(t, err)
	server.Restart()
	receive(t, wakes)
}
