package engine_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/store"
)

// BenchmarkApply measures how many results are applied a second: whole researches
// of 20 queries, their results applied by eight at once. Publishing is not measured.
func BenchmarkApply(b *testing.B) {
	for name, researches := range map[string]int{"one": 1, "eight": 8} {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b, database(b), store.Hooks{})
			var applied atomic.Int64
			b.ResetTimer()
			for applied.Load() < int64(b.N) {
				b.StopTimer()
				for range researches {
					w.running(b, 3, 4)
				}
				for {
					var results []*workv1.Result
					for _, task := range w.publish(b) {
						results = append(results, answer(task))
					}
					if len(results) == 0 {
						break
					}
					b.StartTimer()
					var group errgroup.Group
					group.SetLimit(8)
					for _, result := range results {
						group.Go(func() error {
							_, err := w.engine.Apply(b.Context(), result)
							applied.Add(1)
							return err
						})
					}
					require.NoError(b, group.Wait())
					b.StopTimer()
				}
			}
			b.ReportMetric(float64(applied.Load())/b.Elapsed().Seconds(), "results/s")
		})
	}
}
