package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// planned begins a research with one level of queries and returns their searches.
func (w *world) planned(t testing.TB, request func(breadth int) (id string), breadth int) (string, []*workv1.Task) {
	t.Helper()
	id := request(breadth)
	plan := w.publishOne(t)
	result := reply(plan)
	body := new(workv1.QueriesResult)
	for _, text := range texts("query", int32(breadth)) {
		body.Queries = append(body.Queries, &workv1.PlannedQuery{Text: text, Objective: "objective"})
	}
	result.Payload = &workv1.Result_Queries{Queries: body}
	w.apply(t, result)
	searches := w.publish(t)
	require.Len(t, searches, breadth)
	return id, searches
}

func (w *world) oneLevel(t testing.TB) func(breadth int) string {
	return func(breadth int) string { return w.running(t, 1, breadth) }
}

func found(task *workv1.Task, urls ...string) *workv1.Result {
	result := reply(task)
	body := new(workv1.SearchResult)
	for _, url := range urls {
		body.Hits = append(body.Hits, &workv1.Hit{Url: url, NormalizedUrl: "normalized " + url})
	}
	result.Payload = &workv1.Result_Search{Search: body}
	return result
}

func page(task *workv1.Task, text string) *workv1.Result {
	result := reply(task)
	result.Payload = &workv1.Result_Scrape{Scrape: &workv1.ScrapeResult{Page: &workv1.Page{Text: text}}}
	return result
}

func TestPagesOfAQueryAreAnalyzedInOrderOfArrival(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	_, searches := w.planned(t, w.oneLevel(t), 1)
	w.apply(t, found(searches[0], "a", "b", "c"))
	scrapes := make(map[string]*workv1.Task)
	for _, task := range w.publish(t) {
		scrapes[task.GetScrape().GetUrl()] = task
	}
	require.Len(t, scrapes, 3, "all pages are read at once")
	for _, url := range []string{"c", "a", "b"} {
		w.apply(t, page(scrapes[url], "text of "+url))
	}
	for _, url := range []string{"c", "a", "b"} {
		analysis := w.publishOne(t)
		require.Equal(t, url, analysis.GetAnalyze().GetUrl())
		require.Empty(t, w.publish(t), "one after another")
		w.apply(t, answer(analysis))
	}
	require.Equal(t, bus.Report, bus.KindOf(w.publishOne(t)))
}

func TestAnalysisConcurrency(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	_, searches := w.planned(t, func(breadth int) string {
		id := w.create(t)
		w.step(t, id)
		request := startRequest(1, breadth)
		request.Values.AnalysisConcurrency = 2
		require.NoError(t, w.engine.Start(t.Context(), tenant, id, request))
		return id
	}, 1)
	w.apply(t, found(searches[0], "a", "b", "c", "d"))
	for _, task := range w.publish(t) {
		w.apply(t, page(task, "text of "+task.GetScrape().GetUrl()))
	}
	analyses := w.publish(t)
	require.Len(t, analyses, 2)
	w.apply(t, answer(analyses[1]))
	require.Len(t, w.publish(t), 1)
}

func TestPageOfTwoQueriesIsReadOnceAndAnalyzedForEach(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id, searches := w.planned(t, w.oneLevel(t), 3)
	w.apply(t, found(searches[0], "https://Example.org/A?x=1"))
	w.apply(t, found(searches[1], "https://Example.org/A?x=1"))
	scrape := w.publishOne(t)
	require.Equal(t, "https://Example.org/A?x=1", scrape.GetScrape().GetUrl())
	for _, site := range w.record(t, id).Sites {
		require.Equal(t, workflow.SiteScraping, site.Status)
	}
	w.apply(t, page(scrape, "the text"))
	require.Len(t, w.publish(t), 2, "an analysis for each query")
	w.apply(t, found(searches[2], "https://Example.org/A?x=1"))
	require.Equal(t, bus.Analyze, bus.KindOf(w.publishOne(t)), "a page that is there needs no scrape")
}

func TestPageThatFailedBeforeFailsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id, searches := w.planned(t, w.oneLevel(t), 2)
	w.apply(t, found(searches[0], "a"))
	w.apply(t, failure(w.publishOne(t), fault.Permanent(fault.Blocked, "a wall")))
	w.apply(t, found(searches[1], "a"))
	for _, q := range w.record(t, id).Queries {
		require.Equal(t, workflow.QueryCompleted, q.Status)
		require.Equal(t, string(fault.Blocked), q.Reason)
	}
	require.Equal(t, bus.Report, bus.KindOf(w.publishOne(t)))
}

func TestCopyOfAPageIsNotAnalyzedTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id, searches := w.planned(t, w.oneLevel(t), 1)
	w.apply(t, found(searches[0], "a", "b"))
	for _, task := range w.publish(t) {
		w.apply(t, page(task, "the same text"))
	}
	w.apply(t, answer(w.publishOne(t)))
	sites := w.record(t, id).Sites
	require.Len(t, sites, 2)
	for _, site := range sites {
		require.Equal(t, workflow.SiteAnalyzed, site.Status)
	}
	require.True(t, (sites[0].CopyOf == "b") != (sites[1].CopyOf == "a"), "one is the copy of the other")
	require.Equal(t, bus.Report, bus.KindOf(w.publishOne(t)))
}

func TestSearchKeepsSevenDifferentPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id, searches := w.planned(t, w.oneLevel(t), 1)
	w.apply(t, found(searches[0], "a", "a", "", "b", "c", "d", "e", "f", "g", "h", "i"))
	require.Len(t, w.record(t, id).Sites, 7)
	require.Len(t, w.publish(t), 7)
}

func TestLongURLsAreStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id, searches := w.planned(t, w.oneLevel(t), 1)
	long := make([]byte, 20000)
	for i := range long {
		long[i] = byte('a' + i*i%26)
	}
	w.apply(t, found(searches[0], "https://example.org/"+string(long)))
	require.Len(t, w.record(t, id).Sites, 1)
}
