package erroroutput_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/services/state/internal/erroroutput"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

const whole = `# Error output of research r

- Status: failed
- Reason: unavailable: the model is gone
- Time: 2026-03-04T05:06:07Z
- Depth 2, breadth 2: 4 queries planned, 2 made

## Prompt

> First line
> second line

## Follow-up questions

1. Which?
   (no preference)

## Queries

- tides — completed
  - neap tides — failed (rate_limited: 429)

## Analyzed websites

### <https://example.org/a>

Title: A
Query: tides

- It rises.
  > The water rises twice.

### <https://example.org/b>

Query: tides

The same page as <https://example.org/a>.

## Failed websites

- <https://example.org/c>: blocked: a wall

## Partial report

# Half
`

func TestRender(t *testing.T) {
	t.Parallel()
	record := &store.Record{
		Overview: store.Overview{
			Research:       store.Research{ID: "r", Status: workflow.Failed, Reason: "unavailable", ErrorMessage: "the model\nis gone", Depth: 2, Breadth: 2},
			Dialogue:       store.Dialogue{Prompt: "First line\nsecond line\n", Questions: []string{"Which?"}, Answers: []string{""}},
			PlannedQueries: 4,
		},
		Queries: []store.RecordQuery{
			{ID: "1", Depth: 1, Text: "tides", Status: workflow.QueryCompleted, Reason: "ok"},
			{ID: "2", Depth: 2, Text: "neap tides", Status: workflow.QueryFailed, Reason: "rate_limited", Message: "429"},
		},
		Sites: []store.RecordSite{
			{ID: 1, QueryID: "1", URL: "https://example.org/a", Title: "A", Status: workflow.SiteAnalyzed},
			{ID: 2, QueryID: "1", URL: "https://example.org/b", Status: workflow.SiteAnalyzed, CopyOf: "https://example.org/a"},
			{ID: 3, QueryID: "1", URL: "https://example.org/c", Status: workflow.SiteFailed, Reason: "blocked", Message: "a wall"},
		},
		Extractions: map[int64][]store.Extraction{1: {{Claim: "It rises.", Quote: "The water rises twice."}}},
		Report:      &store.Report{Markdown: "# Half\n", Partial: true},
	}
	require.Equal(t, whole, erroroutput.Render(record, time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)))
}
