package evidence_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/reporter/internal/evidence"
)

func query(id string, extractions ...*workv1.Extraction) *workv1.ReportQuery {
	return &workv1.ReportQuery{QueryId: id, Extractions: extractions}
}

func found(id int64, url string, relevance float64) *workv1.Extraction {
	return &workv1.Extraction{ExtractionId: id, Url: url, Claim: fmt.Sprintf("Claim %d.", id), Quote: fmt.Sprintf("Quote %d.", id), Relevance: relevance}
}

func urls(set *evidence.Set) map[string]bool {
	seen := make(map[string]bool)
	for _, item := range set.Items() {
		seen[item.Extraction.GetUrl()] = true
	}
	return seen
}

func TestSourcesAreSpreadOverTheTree(t *testing.T) {
	t.Parallel()
	var queries []*workv1.ReportQuery
	id := int64(0)
	for q := range 10 {
		asked := query(fmt.Sprint(q))
		for page := range 7 {
			id++
			asked.Extractions = append(asked.Extractions, found(id, fmt.Sprintf("https://q%d.example/%d", q, page), 0.9-float64(page)/10))
		}
		queries = append(queries, asked)
	}
	got := urls(evidence.Collect(queries, 10))
	require.Len(t, got, 10)
	for q := range 10 {
		require.True(t, got[fmt.Sprintf("https://q%d.example/0", q)], "the best page of query %d", q)
	}
	require.Len(t, urls(evidence.Collect(queries, 0)), 70)
	require.Len(t, urls(evidence.Collect(queries, 100)), 70)
}

func TestWhatSeveralQueriesFoundCountsOnceAndMore(t *testing.T) {
	t.Parallel()
	shared := found(1, "https://shared.example/", 0.5)
	again := found(2, "https://shared.example/", 0.5)
	again.Quote = shared.GetQuote()
	set := evidence.Collect([]*workv1.ReportQuery{
		query("a", found(3, "https://a.example/", 0.6), shared),
		query("b", found(4, "https://b.example/", 0.6), again),
	}, 1)
	require.Equal(t, 1, set.Len())
	require.Equal(t, []int{1}, set.ByCitation(&workv1.Citation{Url: "https://shared.example/", ExtractionIds: []int64{2}}))
	require.Equal(t, []int{1}, set.ByCitation(&workv1.Citation{Url: "https://shared.example/"}))
	require.Empty(t, set.Of([]int{0, 2, -1}))
}
