package builtin

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

const facetPrompt = "How do consensus, message queues and databases keep data safe when machines crash, and what does it cost in latency for the people who run them?"

func TestListsOfAPromptAreFacets(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string][]string{
		"How do consensus, message queues and databases keep data safe?": {"consensus", "message queues", "databases"},
		"What do safety and the liveness of a protocol mean?":            {"safety", "liveness"},
		"What is tail latency?": nil,
	} {
		require.Equal(t, want, newLexer(true).listed(prompt), prompt)
	}
}

func TestTitleIsAWholeClause(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]string{
		"What is tail latency?": "What is tail latency",
		facetPrompt:             "How do consensus, message queues and databases keep data safe when machines crash",
	} {
		title, whole := newSubject(prompt, nil).title()
		require.Equal(t, want, title)
		require.Equal(t, strings.TrimRight(prompt, "?") == want, whole)
	}
}

func TestReportHasASectionForEachFacet(t *testing.T) {
	t.Parallel()
	task := &workv1.ReportTask{Prompt: facetPrompt, Queries: []*workv1.ReportQuery{{Text: "data safe", Extractions: []*workv1.Extraction{
		found(1, "Consensus keeps the data of a group safe although some machines crash.", "https://a.example/", 1),
		found(2, "A consensus round needs a majority of the machines to hold the data.", "https://b.example/", 2),
		found(3, "Message queues repeat what machines had not acknowledged before a crash.", "https://c.example/", 3),
		found(4, "Some message queues write each message to three machines before they confirm it.", "https://d.example/", 4),
		found(5, "Databases write a log before the data so that a crash loses nothing.", "https://e.example/", 5),
		found(6, "Most databases replay their log when the machines start after a crash.", "https://f.example/", 6),
		found(7, "A synchronous copy costs a round trip of latency for each commit.", "https://g.example/", 7),
		found(8, "The cost in latency grows with the distance between the machines.", "https://h.example/", 8),
		found(9, "How the machines of a cluster keep their data safe in a crash.", "https://i.example/", 9),
	}}}}
	result := Report(task)
	requireSound(t, task, result)
	at := 0
	for _, heading := range []string{"## Consensus", "## Message queues", "## Databases", "## Cost in latency"} {
		next := strings.Index(result.GetMarkdown(), heading+"\n")
		require.Greater(t, next, at, "%s in %s", heading, result.GetMarkdown())
		at = next
	}
	summary, _, _ := strings.Cut(result.GetMarkdown(), "## Consensus")
	require.NotContains(t, summary, "How the machines of a cluster", "a caption is no answer")
}
