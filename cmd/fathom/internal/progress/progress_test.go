package progress

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/types/known/timestamppb"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2025, 5, 1, 12, 0, 0, 0, time.UTC)

func events() []*researchv1.Event {
	all := []*researchv1.Event{
		{Type: "research.running"},
		{Type: "query.planned", QueryId: "a", QueryText: "first \x1b[31mquery", Depth: 1},
		{Type: "query.planned", QueryId: "b", QueryText: "second query", Depth: 1},
		{Type: "query.searched", QueryId: "a", Count: 2},
		{Type: "query.searched", QueryId: "b"},
		{Type: "query.failed", QueryId: "b", Reason: "rate_limited"},
		{Type: "website.pending", QueryId: "a", Url: "http://x/1"},
		{Type: "website.pending", QueryId: "a", Url: "http://x/2"},
		{Type: "website.scraped", QueryId: "a", Url: "http://x/1"},
		{Type: "website.analyzed", QueryId: "a", Url: "http://x/1", Count: 3},
		{Type: "website.failed", QueryId: "a", Url: "http://x/2", Reason: "not_found", Message: "404"},
		{Type: "query.completed", QueryId: "a", Reason: "ok"},
		{Type: "query.planned", QueryId: "c", ParentQueryId: "a", QueryText: "a child", Depth: 2},
		{Type: "website.failed", QueryId: "unknown", Url: "http://x/3"},
	}
	for i, e := range all {
		e.Sequence = int32(i + 1)
		e.At = timestamppb.New(start.Add(time.Duration(i) * time.Second))
	}
	return all
}

func TestTreeShowsWhatEventsTell(t *testing.T) {
	t.Parallel()
	tree := NewTree()
	for _, e := range events() {
		tree.Apply(e)
	}
	require.Equal(t, Totals{Queries: 3, QueriesEnded: 2, Pages: 2, PagesRead: 1, PagesFailed: 1, Findings: 3}, tree.Totals())
	require.Equal(t, []string{
		"running · 1m0s · 2 of 3 queries · 1 of 2 pages read, 1 failed · 3 findings",
		"├─ ✓ first  [31mquery  3 findings",
		"│  └─ ● a child  searching",
		"└─ ✗ second query  failed rate limited",
	}, tree.Lines(start.Add(time.Minute), 100, 50))
}

func TestTreeFitsTheTerminal(t *testing.T) {
	t.Parallel()
	tree := NewTree()
	for i := range 40 {
		id := fmt.Sprint(i)
		tree.Apply(&researchv1.Event{Type: "query.planned", QueryId: id, QueryText: strings.Repeat("long words ", 20), Depth: 1})
		if i < 30 {
			tree.Apply(&researchv1.Event{Type: "query.completed", QueryId: id})
		}
	}
	for _, height := range []int{1, 2, 5, 11, 12, 20, 41, 100} {
		lines := tree.Lines(start, 40, height)
		require.LessOrEqual(t, len(lines), height)
		for _, line := range lines {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 40)
		}
	}
	require.Len(t, tree.Lines(start, 40, 100), 41)
	require.Equal(t, 10, strings.Count(strings.Join(tree.Lines(start, 40, 12), "\n"), "●"), "what still runs stays in the picture")
}

func TestPlainPrintsWhatMatters(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	view := NewPlain(&out)
	for _, e := range events() {
		view.See(e)
	}
	view.Close()
	require.Equal(t, `    0.0s  research running
    1.0s  query    first  [31mquery
    2.0s  query    second query
    5.0s  failed   second query: failed rate limited (rate limited)
   10.0s  page     http://x/2 failed (not found): 404
   11.0s  completed first  [31mquery: 3 findings
   12.0s  query      a child
   13.0s  page     http://x/3 failed: 
3 queries, 1 of 2 pages read, 1 failed, 3 findings
`, out.String())
}

func TestLiveRedrawsInPlace(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	view := NewLive(&out, func() (int, int) { return 80, 24 })
	view.Tick()
	require.NotContains(t, out.String(), "A\r", "nothing is above the first picture")
	view.See(events()[1])
	view.Tick()
	out.Reset()
	view.Close()
	require.True(t, strings.HasPrefix(out.String(), "\x1b[2A\r\x1b[2K"), "%q", out.String())
	require.True(t, strings.HasSuffix(out.String(), "\n\x1b[J"))
}
