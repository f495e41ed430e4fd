package builtin

import (
	"testing"

	"github.com/stretchr/testify/require"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

const sluices = `A sluice is a gate that lets water through a weir.

The keeper turns the wheel until the gate stands a hand above the sill. Water then runs under the gate and the level of the upper basin falls. When the level of both basins is the same, the keeper lowers the gate to the sill. Ice holds the gate and the wheel, so that keepers heat the sill in winter.`

func extractionsOf(t *testing.T, prompt, url, title, text string) []*workv1.Extraction {
	t.Helper()
	return Extract(&workv1.AnalyzeTask{
		Prompt: prompt, Query: prompt, Objective: "Find an answer to: " + prompt,
		Url: url, Title: title, Text: text, Language: "en",
	}).GetExtractions()
}

// TestPageAboutThemeSpeaksWithoutItsName holds for what no sentence repeats, and a page that
// has a common word of the prompt stays out.
func TestPageAboutThemeSpeaksWithoutItsName(t *testing.T) {
	t.Parallel()
	const prompt = "How do sluices replace movable bridges?"
	query := &workv1.ReportQuery{Text: prompt}
	query.Extractions = append(query.Extractions, extractionsOf(t, prompt, "https://a.example/sluice", "Sluices and weirs", sluices)...)
	query.Extractions = append(query.Extractions, extractionsOf(t, prompt, "https://b.example/tyres", "Tyres",
		"A workshop will replace all four tyres of a movable stall within one hour.")...)
	for i, e := range query.Extractions {
		e.ExtractionId = int64(i + 1)
	}
	markdown := Report(&workv1.ReportTask{Prompt: prompt, Queries: []*workv1.ReportQuery{query}}).GetMarkdown()
	require.Contains(t, markdown, "- A sluice is a gate")
	require.Contains(t, markdown, "The keeper turns the wheel")
	require.NotContains(t, markdown, "tyres")
}

func TestThemesOfTitles(t *testing.T) {
	t.Parallel()
	s := newSubject("How does NATS JetStream differ from Kafka, and when should each be used?", nil)
	require.Equal(t, []string{"NATS JetStream", "Kafka"}, s.sides)
	themes := s.themes()
	require.Len(t, s.lex.themed("Inside Apache Kafka: partitions, replicas and acknowledgements", themes), 1)
	require.Len(t, s.lex.themed("NATS and JetStream", themes), 1)
	require.Empty(t, s.lex.themed("What every engineer at a large bank should have learned about Kafka and other tools by now", themes))
}

func TestDefinitions(t *testing.T) {
	t.Parallel()
	lex := newLexer(true)
	saga := &theme{terms: newTermSet([]string{"saga"})}
	for sentence, want := range map[string]bool{
		"A saga is a row of transactions.":          true,
		"Sagas are one of two answers.":             true,
		"A saga that fails is a row of undone work": false,
		"The Norse saga is a long story.":           false,
	} {
		require.Equal(t, want, lex.defining(sentence, saga), sentence)
	}
	require.Len(t, lex.sentences("A saga is a row of steps T1 ... Tn, each of which commits. It ends."), 2)
}

func TestUnderscoresInsideOfWordsStand(t *testing.T) {
	t.Parallel()
	require.Equal(t, `sync_interval and \_\_init\_\_ and \_this\_`, escape("sync_interval and __init__ and _this_"))
}
