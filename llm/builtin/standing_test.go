package builtin

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

func TestSentencesAreTidied(t *testing.T) {
	t.Parallel()
	lex := newLexer(true)
	for given, want := range map[string]string{
		"However, the tunnel (see Section 27.2.5) was closed for a year.":    "The tunnel was closed for a year.",
		"Note that the pumps of the tunnel ran day and night.":               "The pumps of the tunnel ran day and night.",
		"The tunnel can be closed by one man alone; see closing the tunnel.": "The tunnel can be closed by one man alone.",
		"Both of the bridges carry heavy trains, see Chapter 27.":            "Both of the bridges carry heavy trains.",
		"But the iPhone sold better than it had in any year before.":         "The iPhone sold better than it had in any year before.",
		"The tunnel was closed (for a year).":                                "The tunnel was closed (for a year).",
	} {
		require.Equal(t, want, lex.tidied(given))
	}
}

func TestWhatSendsAwayDangles(t *testing.T) {
	t.Parallel()
	lex := newLexer(true)
	for _, sentence := range []string{
		"For ranking by words see BM25.", "For conflicting lock modes, see Table 13.2.",
		"How it compares with other brokers is summed up in the broker table.",
		"Additional information about subscriptions is available at Section 31.2.",
		"Compare that with crash failures, where both need only 2f+1.",
		"Retries at several layers that multiply.",
	} {
		require.True(t, lex.dangles(sentence), sentence)
	}
	for _, sentence := range []string{
		"The tunnel cost a lot.", "Engineers compared the tunnel with a bridge.", "For most ships the canal is described as too narrow.",
	} {
		require.False(t, lex.dangles(sentence), sentence)
	}
}

func TestHistoryIsToldByTheYearsInSentences(t *testing.T) {
	t.Parallel()
	query := &workv1.ReportQuery{Text: "canal history"}
	for i, year := range []int{1998, 1871, 1932, 1905, 1950, 1888} {
		query.Extractions = append(query.Extractions, found(int64(i+1),
			fmt.Sprintf("The canal of line %s was widened for ships of the class %d in %d.", digits(i*7), i, year), fmt.Sprintf("https://s%d.example/", i), 9-i))
	}
	markdown := Report(&workv1.ReportTask{Prompt: "History of canals", Queries: []*workv1.ReportQuery{query}}).GetMarkdown()
	_, timeline, _ := strings.Cut(markdown, "## Timeline")
	years := regexp.MustCompile(`(?m)^- \*(\d{4})\* — `).FindAllStringSubmatch(timeline, -1)
	require.GreaterOrEqual(t, len(years), 3, markdown)
	require.Less(t, years[0][1], years[1][1])
	require.Less(t, years[1][1], years[2][1])
	require.NotContains(t, markdown, "speaks of “History”")
}

func TestDefinitionComesFirst(t *testing.T) {
	t.Parallel()
	query := &workv1.ReportQuery{Text: "sluice", Extractions: []*workv1.Extraction{
		found(1, "The sluice of the northern canal broke in a flood and was mended in a week.", "https://a.example/", 0),
		found(2, "A sluice is a gate that holds water back and lets it through in turn.", "https://b.example/", 0),
		found(3, "Keepers open the sluice twice a day when the tide allows it.", "https://c.example/", 0),
	}}
	for _, prompt := range []string{"What is a sluice?", "What is a sluice and how do keepers of the northern canal open it?", "Sluice"} {
		markdown := Report(&workv1.ReportTask{Prompt: prompt, Queries: []*workv1.ReportQuery{query}}).GetMarkdown()
		require.Contains(t, markdown, "## Summary\n\n- A sluice is a gate", prompt)
	}
}

func TestPagesAreSectionsWhereThePromptHasNoParts(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Routine Vacuuming", pageHeading("25.1. Routine Vacuuming"))
	require.Equal(t, "Logical Replication", pageHeading("Chapter 31. Logical Replication"))
	require.Equal(t, "The long way of a canal boat from sea to sea", pageHeading("The long way of a canal boat from sea to sea - Canal News"))
	require.Empty(t, pageHeading("sagas.txt"))
	require.Empty(t, pageHeading(strings.Repeat("long ", 30)))
}

func TestRowsAreBorneOutByTheirCells(t *testing.T) {
	t.Parallel()
	require.True(t, rowClaim("Canal A — Length: 90 km; Opened: 1871.", "| Canal A | 90 km | 1871 |"))
	require.False(t, rowClaim("Canal A — Length: 90 km.", "| Canal A | 90 km | 1871 |"))
	require.False(t, rowClaim("Canal A is long.", "Canal A is long."))
}

func TestTermStandsBeforeWhatExplainsIt(t *testing.T) {
	t.Parallel()
	text := "## Settings\n\nlock_timeout (integer)\n\nSpecifies how long a ship waits for the lock of the canal before it turns back.\n\n| Prev | Up | Next |\n|---|---|---|\n| 49.3 canal lock | Home | 49.5 canal lock |\n"
	result := Extract(&workv1.AnalyzeTask{Prompt: "How long does a ship wait for a canal lock?", Query: "ship wait canal lock", Url: "https://a.example/", Text: text, Language: "en"})
	require.Len(t, result.GetExtractions(), 1)
	e := result.GetExtractions()[0]
	require.Equal(t, "lock_timeout (integer): specifies how long a ship waits for the lock of the canal before it turns back.", e.GetClaim())
	require.Equal(t, text[e.GetStart():e.GetEnd()], e.GetQuote())
}

func TestForeignSmallWordsAreNotAskedFor(t *testing.T) {
	t.Parallel()
	for _, query := range Queries(&workv1.QueriesTask{Prompt: "Wie speichern Datenbanken ihre Daten dauerhaft und welche Risiken bleiben?", N: 4}) {
		require.NotRegexp(t, `(?i)\b(?:wie|ihre|und|welche)\b`, query.GetText())
	}
}
