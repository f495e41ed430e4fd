package engine_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/fathom-research/fathom/platform/bus"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/relay"
	"github.com/fathom-research/fathom/services/state/internal/store"
)

// fanInQueries is small by default, so that every change can pass it.
var fanInQueries = flag.Int("fanin.queries", 300, "queries of the fan-in test, a multiple of 20; 10000 is the long run")

// tray is a bus that keeps what the relay publishes.
type tray struct {
	mutex sync.Mutex
	tasks []*workv1.Task
}

func (p *tray) PublishTask(_ context.Context, task *workv1.Task) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.tasks = append(p.tasks, task)
	return nil
}

// TestEachQueryExpandsOnce applies the results of many researches one to five times
// each, in random order and some of them much later, by 64 workers at once.
func TestEachQueryExpandsOnce(t *testing.T) {
	t.Parallel()
	const depth, breadth, size, inner = 3, 4, 20, 12
	w := newWorld(t, database(t), store.Hooks{})
	researches := *fanInQueries / size
	ids := make([]string, researches)
	for i := range ids {
		ids[i] = w.create(t)
	}
	w.applyInDisorder(t, clean)
	for _, id := range ids {
		require.NoError(t, w.engine.Start(t.Context(), tenant, id, startRequest(depth, breadth)))
	}
	begun := time.Now()
	applied := w.applyInDisorder(t, clean)
	t.Logf("%d queries, %d results applied by 64 workers in %s", researches*size, applied, time.Since(begun).Round(time.Millisecond))

	for what, want := range map[string]int{
		"SELECT count(*) FROM serp_query":                                               researches * size,
		"SELECT count(*) FROM serp_query WHERE expanded AND urls_open = 0":              researches * size,
		"SELECT count(*) FROM event WHERE type = 'query.completed'":                     researches * size,
		"SELECT count(*) FROM task WHERE kind = 'queries' AND query_id IS NOT NULL":     researches * inner,
		"SELECT count(DISTINCT query_id) FROM task WHERE kind = 'queries'":              researches * inner,
		"SELECT count(*) FROM research WHERE status = 'completed' AND open_queries = 0": researches,
		"SELECT count(*) FROM report":                                                   researches,
		"SELECT count(*) FROM task WHERE state IN ('due', 'published')":                 0,
		"SELECT count(*) FROM website WHERE status <> 'analyzed'":                       0,
		"SELECT count(*) FROM task WHERE kind = 'search'":                               researches * size,
		"SELECT count(*) FROM task WHERE kind = 'analyze'":                              2 * researches * size,
		"SELECT count(*) FROM website":                                                  2 * researches * size,
		"SELECT count(*) FROM extraction":                                               2 * researches * size,
	} {
		require.Equal(t, want, w.count(t, what), what)
	}
}

// applyInDisorder answers all that the relay publishes until nothing is due, and
// returns how many results it applied.
func (w *world) applyInDisorder(t *testing.T, work func(task *workv1.Task) *workv1.Result) int {
	t.Helper()
	out := new(tray)
	publishing := &relay.Relay{
		Outbox: w.store, Builder: w.builder, Publisher: out, Marker: w.engine, Logger: slog.New(slog.DiscardHandler),
	}
	var held []*workv1.Result
	for applied := 0; ; {
		for published := 1; published > 0; {
			var err error
			published, err = publishing.Once(t.Context())
			require.NoError(t, err)
		}
		if len(out.tasks)+len(held) == 0 {
			return applied
		}
		results := held
		held = nil
		for _, task := range out.tasks {
			results = append(results, work(task))
			for range rand.IntN(5) {
				if rand.IntN(3) == 0 {
					held = append(held, work(task))
					continue
				}
				results = append(results, work(task))
			}
		}
		out.tasks = nil
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
		applied += len(results)
	}
}

// clean is a worker that nothing fails: each search has two pages of its own.
func clean(task *workv1.Task) *workv1.Result {
	result := answer(task)
	result.Failure = nil
	switch bus.KindOf(task) {
	case bus.Queries:
		body := task.GetQueries()
		planned := new(workv1.QueriesResult)
		for _, text := range texts(fmt.Sprintf("%d of ", len(body.GetChain())), body.GetN()) {
			planned.Queries = append(planned.Queries, &workv1.PlannedQuery{Text: text, Objective: "about " + text})
		}
		result.Payload = &workv1.Result_Queries{Queries: planned}
	case bus.Search:
		found := new(workv1.SearchResult)
		for i := range 2 {
			url := fmt.Sprintf("https://example.org/%s/%d", task.GetTaskId(), i)
			found.Hits = append(found.Hits, &workv1.Hit{Url: url, NormalizedUrl: url})
		}
		result.Payload = &workv1.Result_Search{Search: found}
	case bus.Scrape:
		result.Payload = &workv1.Result_Scrape{Scrape: &workv1.ScrapeResult{Page: &workv1.Page{Text: task.GetScrape().GetUrl()}}}
	case bus.Analyze:
		text := task.GetAnalyze().GetText()
		result.Payload = &workv1.Result_Analyze{Analyze: &workv1.AnalyzeResult{Extractions: []*workv1.Extraction{{
			Claim: "claim", Quote: text, End: int32(len(text)), Url: task.GetAnalyze().GetUrl(),
		}}}}
	}
	return result
}
