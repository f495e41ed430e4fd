package draft_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/reporter/internal/draft"
	"github.com/fathom-research/fathom/services/reporter/internal/evidence"
)

func TestMarksStandAtTheEndOfSentences(t *testing.T) {
	t.Parallel()
	set := evidence.Collect([]*workv1.ReportQuery{{QueryId: "q", Extractions: []*workv1.Extraction{
		{Url: "https://a.example/", Title: "Ends with a stop.", Claim: "a", Quote: "a"},
		{Url: "https://b.example/", Title: "https://b.example/", Claim: "b", Quote: "b"},
	}}}, 0)
	cases := map[string]string{
		"It rose.":              "It rose [1].",
		"It rose":               "It rose [1].",
		"Did it rise?":          "Did it rise [1]?",
		`She said: "It rose."`:  `She said: "It rose." [1]`,
		"It rose (by a third)":  "It rose (by a third) [1].",
		"It rose (by a third.)": "It rose (by a third.) [1]",
	}
	for text, want := range cases {
		report := &draft.Report{Title: "T", Sections: []draft.Section{{Heading: "H", Paragraphs: []draft.Paragraph{{
			Sentences: []draft.Sentence{{Text: text, Supported: []int{1}}},
		}}}}}
		require.Contains(t, report.Render(set, 0).GetMarkdown(), "\n"+want+"\n", text)
	}

	both := &draft.Report{Title: "T", Summary: []draft.Sentence{{Text: "It rose.", Supported: []int{2, 1}}}}
	require.True(t, strings.HasSuffix(both.Render(set, 0).GetMarkdown(),
		"It rose [1][2].\n\n## Sources\n\n- [1] <https://b.example/>\n- [2] Ends with a stop. <https://a.example/>\n"), both.Render(set, 0).GetMarkdown())
}

func TestShortenLeavesEachSectionASentence(t *testing.T) {
	t.Parallel()
	long := draft.Paragraph{}
	for range 20 {
		long.Sentences = append(long.Sentences, draft.Sentence{Text: "one two three four five."})
	}
	report := &draft.Report{Sections: []draft.Section{
		{Heading: "A", Paragraphs: []draft.Paragraph{long}},
		{Heading: "B", Paragraphs: []draft.Paragraph{{Sentences: []draft.Sentence{{Text: "short."}}}}},
	}}
	report.Shorten(30)
	require.LessOrEqual(t, report.Words(), 30)
	require.Len(t, report.Sections, 2)
	report.Shorten(0)
	require.Len(t, report.Sections, 2)
	require.NotEmpty(t, report.Sections[0].Paragraphs)
}
