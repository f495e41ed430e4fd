package stack

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	"github.com/fathom-research/fathom/testkit/fakemodel"
)

var slow = latencies{search: 300 * time.Millisecond, page: 300 * time.Millisecond, model: 400 * time.Millisecond}

// BenchmarkMakespan compares how long a research takes with how long its longest chain
// of calls to the web and the model takes by itself: what is over 1 is Fathom's own.
func BenchmarkMakespan(b *testing.B) {
	b.Run("depth=3,breadth=4", func(b *testing.B) { makespan(b, 3, 4, map[int32]int{1: 4, 2: 8, 3: 8}) })
	b.Run("depth=5,breadth=5", func(b *testing.B) { makespan(b, 5, 5, map[int32]int{1: 5, 2: 15, 3: 30, 4: 30, 5: 30}) })
}

func makespan(b *testing.B, depth, breadth int32, levels map[int32]int) {
	w := newWorld(b, slow)
	var took, needed time.Duration
	for b.Loop() {
		id := w.ask(b)
		before := len(w.model.Calls())
		record, lasted := w.research(b, id, depth, breadth)
		requireWhole(b, record, levels)
		took += lasted
		needed += criticalPath(record, w.model.Calls()[before:], slow)
	}
	w.stop()
	b.ReportMetric(took.Seconds()/float64(b.N), "makespan-s")
	b.ReportMetric(needed.Seconds()/float64(b.N), "critical-path-s")
	b.ReportMetric(took.Seconds()/needed.Seconds(), "x-of-critical-path")
}

// criticalPath is what the research would take if nothing but its calls took time: the
// plan, the slowest chain of queries, and the report's calls that waited for each other.
func criticalPath(record *researchv1.Research, calls []fakemodel.Call, takes latencies) time.Duration {
	alone := aloneOf(record, takes)
	parents := make(map[string]string)
	for _, query := range record.GetSerpQueries() {
		parents[query.GetQueryId()] = query.GetParentQueryId().GetValue()
	}
	var slowest time.Duration
	for id := range parents {
		var chain time.Duration
		for ; id != ""; id = parents[id] {
			// Each query of the chain was planned by one call.
			chain += takes.model + alone[id]
		}
		slowest = max(slowest, chain)
	}
	return slowest + time.Duration(oneAfterAnother(calls))*takes.model
}

// aloneOf is what each query takes from its start to its last page: the search, the
// first page, and the analyses one after another. A page that a query of a higher
// level had found was there already, and its analysis hides the reading of the others.
func aloneOf(record *researchv1.Research, takes latencies) map[string]time.Duration {
	depths := make(map[string]int32)
	for _, query := range record.GetSerpQueries() {
		depths[query.GetQueryId()] = query.GetDepth()
	}
	first := make(map[string]int32)
	for _, page := range record.GetSuccessfulScrapedWebsites() {
		depth := depths[page.GetQueryId()]
		if known, ok := first[page.GetUrl()]; !ok || depth < known {
			first[page.GetUrl()] = depth
		}
	}
	alone := make(map[string]time.Duration)
	early := make(map[string]bool)
	for _, page := range record.GetSuccessfulScrapedWebsites() {
		id := page.GetQueryId()
		if page.GetStatus() == "analyzed" && page.GetCopyOf() == "" {
			alone[id] += takes.model
		}
		early[id] = early[id] || first[page.GetUrl()] < depths[id]
	}
	for id := range depths {
		alone[id] += takes.search
		if !early[id] {
			alone[id] += takes.page
		}
	}
	return alone
}

// oneAfterAnother is the length of the longest chain of the report's calls that each
// began after the one before had ended.
func oneAfterAnother(calls []fakemodel.Call) int {
	calls = slices.DeleteFunc(slices.Clone(calls), func(call fakemodel.Call) bool {
		return call.Schema == "queries" || call.Schema == "extractions"
	})
	slices.SortFunc(calls, func(a, b fakemodel.Call) int { return a.Ended.Compare(b.Ended) })
	n := 0
	var last time.Time
	for _, call := range calls {
		if call.Began.After(last) {
			n++
			last = call.Ended
		}
	}
	return n
}

func TestCriticalPath(t *testing.T) {
	t.Parallel()
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	calls := []fakemodel.Call{
		{Schema: "queries", Began: at(0), Ended: at(10)},
		{Schema: "outline", Began: at(20), Ended: at(30)},
		{Schema: "section", Began: at(31), Ended: at(41)},
		{Schema: "section", Began: at(32), Ended: at(40)},
		{Schema: "summary", Began: at(42), Ended: at(52)},
	}
	require.Equal(t, 3, oneAfterAnother(calls))

	record := &researchv1.Research{
		SerpQueries: []*researchv1.SerpQuery{{QueryId: "a", Depth: 1}},
		SuccessfulScrapedWebsites: []*researchv1.Website{
			{QueryId: "a", Url: "u", Status: "analyzed"}, {QueryId: "a", Url: "v", Status: "analyzed"},
			{QueryId: "a", Url: "w", Status: "analyzed", CopyOf: "u"}, {QueryId: "a", Url: "x", Status: "failed"},
		},
	}
	require.Equal(t, 3*time.Second,
		criticalPath(record, calls, latencies{search: 500 * time.Millisecond, page: 100 * time.Millisecond, model: 400 * time.Millisecond}))
}
