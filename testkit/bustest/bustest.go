// Package bustest gives a test a bus on a NATS server of its own, and runs workers on it.
package bustest

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/bus"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/testkit/natstest"
)

const patience = 30 * time.Second

// Open makes a bus whose streams and buckets are there. It ends with the test.
func Open(t testing.TB) *bus.Bus {
	t.Helper()
	b, err := bus.Open(natstest.Connect(t), bus.Options{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	require.NoError(t, b.Provision(t.Context()))
	return b
}

// Serve runs a worker until the test ends, and returns what it hands in. Neither the
// worker nor the reading of its results may end with an error.
func Serve(t testing.TB, b *bus.Bus, worker func(context.Context) error) <-chan *workv1.Result {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	results := make(chan *workv1.Result, 100)
	parts := map[string]func(context.Context) error{
		"worker": worker,
		"results": func(ctx context.Context) error {
			return b.Results(ctx, 1, func(_ context.Context, result *workv1.Result) error {
				results <- result
				return nil
			})
		},
	}
	var running sync.WaitGroup
	for name, part := range parts {
		running.Go(func() {
			err := part(ctx)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	return results
}

// Await is the next result.
func Await(t testing.TB, results <-chan *workv1.Result) *workv1.Result {
	t.Helper()
	select {
	case result := <-results:
		return result
	case <-time.After(patience):
		t.Fatal("no result")
		return nil
	}
}
