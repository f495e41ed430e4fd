package bus_test

import (
	"context"
	"log/slog"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/bus"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/testkit/natstest"
)

// BenchmarkRoundTrip is a task published, handled, and its result applied, with 16
// of them on their way.
func BenchmarkRoundTrip(b *testing.B) {
	f, err := bus.Open(natstest.Connect(b), bus.Options{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(b, err)
	require.NoError(b, f.Provision(b.Context()))
	ctx, cancel := context.WithCancel(b.Context())
	applied := make(chan struct{}, 1)
	ended := make(chan error, 2)
	go func() { ended <- f.Work(ctx, bus.Worker{Kind: bus.Search, Slots: 16, Handle: echo}) }()
	go func() {
		ended <- f.Results(ctx, 16, func(context.Context, *workv1.Result) error {
			applied <- struct{}{}
			return nil
		})
	}()

	const underway = 16
	b.ResetTimer()
	for i := range b.N {
		if i >= underway {
			<-applied
		}
		require.NoError(b, f.PublishTask(ctx, search("t"+strconv.Itoa(i))))
	}
	for range min(underway, b.N) {
		<-applied
	}
	b.StopTimer()
	cancel()
	require.NoError(b, <-ended)
	require.NoError(b, <-ended)
}
