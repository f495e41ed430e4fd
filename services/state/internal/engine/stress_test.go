package engine_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// TestManyWorkersOnOneResearch applies every result one to five times, in random
// order, by 64 workers at once.
func TestManyWorkersOnOneResearch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id := w.running(t, 3, 5)
	late := time.Now().Add(time.Minute)
	for !w.status(t, id).Ended() {
		require.True(t, time.Now().Before(late), "the research hangs")
		var results []*workv1.Result
		for _, task := range w.publish(t) {
			for range 1 + rand.IntN(5) {
				results = append(results, answer(task))
			}
		}
		rand.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
		var group errgroup.Group
		group.SetLimit(64)
		for _, result := range results {
			group.Go(func() error {
				_, err := w.engine.Apply(t.Context(), result)
				return err
			})
		}
		require.NoError(t, group.Wait())
	}
	requireOutcome(t, w, id, 3, 5)
	require.Equal(t, workflow.Completed, w.status(t, id))
}
