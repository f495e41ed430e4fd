package engine_test

import (
	"context"
	"flag"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/relay"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/sweep"
	"github.com/fathom-research/fathom/testkit/bustest"
)

var faultResearches = flag.Int("faults.researches", 20, "researches of the fault injection test")

// TestFaultsAtEveryCallBreakNothing runs researches on a real bus and database, all
// of whose calls fail at times, be it before or after they were done.
func TestFaultsAtEveryCallBreakNothing(t *testing.T) {
	t.Parallel()
	f := new(faults)
	w := newWorld(t, database(t), f.hooks())
	w.serve(t, f, bustest.Open(t))

	const depth, breadth = 2, 3
	ids := make([]string, *faultResearches)
	for i := range ids {
		ids[i] = w.insistOnCreate(t)
	}
	for _, id := range ids {
		require.Eventually(t, func() bool {
			return w.engine.Start(t.Context(), tenant, id, startRequest(depth, breadth)) == nil
		}, time.Minute, 20*time.Millisecond)
	}
	require.Eventually(t, func() bool {
		return w.count(t, "SELECT count(*) FROM research WHERE finished_at IS NULL") == 0
	}, 3*time.Minute, 100*time.Millisecond)
	for _, id := range ids {
		requireOutcome(t, w, id, depth, breadth)
		require.Equal(t, 1, w.count(t, "SELECT count(*) FROM report WHERE research_id = $1", id))
	}
	t.Logf("%d researches, %d calls not done, %d answers lost", len(ids), f.notDone.Load(), f.answerLost.Load())
}

// serve runs all that state does, through the faults, and workers of every kind.
func (w *world) serve(t *testing.T, f *faults, b *bus.Bus) {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	faulty := faultyStore{faults: f, store: w.store, builder: w.builder}
	publishing := &relay.Relay{Outbox: faulty, Builder: faulty, Publisher: faultyBus{f, b}, Marker: w.engine, Logger: quiet, Wake: w.due}
	sweeping := &sweep.Sweeper{
		Bus: faultyBus{f, b}, Store: faulty, Engine: w.engine, Builder: faulty, Logger: quiet,
		Every: 500 * time.Millisecond, Quiet: time.Second, ReportGrace: time.Minute,
	}
	inBackground(t, publishing.Run)
	inBackground(t, sweeping.Run)
	inBackground(t, func(ctx context.Context) error { return b.Results(ctx, 8, f.results(w.engine)) })
	for _, kind := range bus.Kinds {
		inBackground(t, func(ctx context.Context) error {
			return b.Work(ctx, bus.Worker{Kind: kind, Slots: 4, Grace: 50 * time.Millisecond, Handle: tired})
		})
	}
}

// tired is a worker that fails at times, but never as often as is allowed.
func tired(_ context.Context, task *workv1.Task) (*workv1.Result, error) {
	result := answer(task)
	if result.GetFailure() == nil && task.GetAttempt() < 3 && rand.IntN(100) < 10 {
		return nil, fault.Transient(fault.Unavailable, "a bad moment")
	}
	return result, nil
}

// insistOnCreate creates a research as a client does that repeats what failed.
func (w *world) insistOnCreate(t *testing.T) string {
	t.Helper()
	key := &store.KeyClaim{Method: "create", Key: store.NewID(), Digest: []byte("body")}
	id := ""
	require.Eventually(t, func() bool {
		made, err := w.engine.Create(t.Context(), store.NewResearch{ID: store.NewID(), Tenant: tenant, Prompt: "prompt", NumQuestions: 1}, key)
		id = made
		return err == nil
	}, time.Minute, time.Millisecond)
	return id
}

// inBackground runs a part until the test ends.
func inBackground(t *testing.T, run func(ctx context.Context) error) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
}
