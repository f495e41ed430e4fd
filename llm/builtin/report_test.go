package builtin

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

func found(id int64, claim, url string, day int) *workv1.Extraction {
	e := &workv1.Extraction{
		ExtractionId: id, Claim: claim, Quote: claim, Start: int32(id * 100), End: int32(id*100) + int32(len(claim)),
		Url: url, Title: "Page " + url, Relevance: 0.6,
	}
	if day > 0 {
		e.Published = timestamppb.New(time.Date(2021, 5, day, 0, 0, 0, 0, time.UTC))
	}
	return e
}

func tunnelReport() *workv1.ReportTask {
	return &workv1.ReportTask{
		Prompt: "Why did the Harbour Tunnel cost more than the Eastmere Bridge?",
		Queries: []*workv1.ReportQuery{
			{QueryId: "1", Text: "Harbour Tunnel cost", Extractions: []*workv1.Extraction{
				found(1, "The Harbour Tunnel cost 2.4 billion dollars because of flooding in the northern shaft.", "https://a.example/x_(1)?q=a&b=_c_", 9),
				found(2, "Flooding in the northern shaft made the Harbour Tunnel cost 2.4 billion dollars.", "https://b.example/", 7),
				found(3, "The Harbour Tunnel did not cost 2.4 billion dollars because of flooding in the northern shaft.", "https://c.example/", 8),
				found(4, "Engineers of the Harbour Tunnel [1] blamed *soft* rock for half of the overrun.", "https://a.example/x_(1)?q=a&b=_c_", 9),
				found(5, "The Eastmere Bridge cost 900 million dollars in 2010.", "https://d.example/", 3),
				found(6, "The Eastmere Bridge was built on dry ground, which kept its cost low.", "https://e.example/", 4),
				found(7, "Tolls on the Eastmere Bridge paid for the cost of the bridge within ten years.", "https://f.example/", 5),
			}},
			{QueryId: "2", Text: "Harbour Tunnel overrun inquiry"},
		},
		Tally: &workv1.Tally{QueriesCompleted: 2, PagesAnalyzed: 6, PagesFailed: 3, Reasons: map[string]int32{"timed_out": 2, "blocked": 1}},
		Notes: []string{"The deadline came before the last level."},
	}
}

func TestReportCitesEverySentence(t *testing.T) {
	t.Parallel()
	task := tunnelReport()
	result := Report(task)
	requireSound(t, task, result)
	md := result.GetMarkdown()
	require.Contains(t, md, "# Why did the Harbour Tunnel cost more than the Eastmere Bridge\n")
	for _, heading := range []string{"## Summary", "## What stayed unanswered", "## Method", "## Sources"} {
		require.Contains(t, md, heading)
	}
	require.Contains(t, md, "“Harbour Tunnel overrun inquiry”")
	require.Contains(t, md, "timed out 2, blocked 1")
	require.Contains(t, md, "The deadline came before the last level.")
	require.Contains(t, md, "<https://a.example/x_(1)?q=a&b=_c_>")
	require.Contains(t, md, `\*soft\*`)
}

func TestReportMergesWhatSaysTheSame(t *testing.T) {
	t.Parallel()
	result := Report(tunnelReport())
	for _, sentence := range result.GetVerification() {
		if strings.HasPrefix(sentence.GetSentence(), "The Harbour Tunnel cost 2.4") {
			require.Len(t, sentence.GetCitations(), 2)
			require.ElementsMatch(t, []int64{1, 2}, sentence.GetExtractionIds())
		}
	}
	require.NotContains(t, result.GetMarkdown(), "Flooding in the northern shaft made")
	require.Contains(t, result.GetMarkdown(), "did not cost", "a denial is no repetition")
}

func TestReportIsInOrderOfTime(t *testing.T) {
	t.Parallel()
	task := tunnelReport()
	require.NotRegexp(t, `(?m)^- \*2021`, Report(task).GetMarkdown(), "nothing asks for the order of the pages' dates")
	task.Prompt = "What did the Harbour Tunnel and the Eastmere Bridge cost between 2010 and 2021?"
	days := 0
	for _, section := range strings.Split(Report(task).GetMarkdown(), "\n## ") {
		previous := ""
		for _, day := range regexp.MustCompile(`(?m)^- \*(2021-05-\d\d)\*`).FindAllStringSubmatch(section, -1) {
			require.GreaterOrEqual(t, day[1], previous)
			previous = day[1]
			days++
		}
	}
	require.Positive(t, days)
}

func TestReportStaysWithinItsBounds(t *testing.T) {
	t.Parallel()
	task := &workv1.ReportTask{Prompt: "What do harbour ferries carry?", Words: 300, Sources: 5}
	query := &workv1.ReportQuery{Text: "harbour ferries carry"}
	for i := range 400 {
		query.Extractions = append(query.Extractions, found(int64(i+1),
			fmt.Sprintf("Harbour ferries of line %s carry %d tons of %s in a year.", digits(i*7), i*31, strings.Repeat(string(rune('a'+i%26)), 5)),
			fmt.Sprintf("https://s%d.example/", i%40), 0))
	}
	task.Queries = []*workv1.ReportQuery{query}
	result := Report(task)
	requireSound(t, task, result)
	require.LessOrEqual(t, len(result.GetCitations()), 5)
	body, _, _ := strings.Cut(result.GetMarkdown(), "## What stayed unanswered")
	require.LessOrEqual(t, len(strings.Fields(body)), 400)
	require.Greater(t, len(strings.Fields(body)), 100)
}

func TestReportWithNothingSaysWhy(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tally *workv1.Tally
		want  string
	}{
		"searches failed": {&workv1.Tally{QueriesFailed: 3, Reasons: map[string]int32{"rate_limited": 3}}, "Every search failed (rate limited 3)."},
		"pages failed":    {&workv1.Tally{QueriesCompleted: 2, PagesFailed: 9, Reasons: map[string]int32{"blocked": 9}}, "None of the pages that were found could be read (blocked 9)."},
		"no pages":        {&workv1.Tally{QueriesCompleted: 2}, "The searches found no page."},
		"nothing said":    {&workv1.Tally{QueriesCompleted: 2, PagesAnalyzed: 1}, "1 page was read, and none of them"},
		"no tally":        {nil, "No search was made."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := Report(&workv1.ReportTask{Prompt: "What is blanching?", Tally: test.tally})
			require.Contains(t, result.GetMarkdown(), "No answer can be given")
			require.Contains(t, result.GetMarkdown(), test.want)
			require.Empty(t, result.GetCitations())
			require.Empty(t, result.GetVerification())
			require.NotContains(t, result.GetMarkdown(), "## Sources")
		})
	}
}

func TestReportLeavesOutWhatIsNotSupported(t *testing.T) {
	t.Parallel()
	made := found(1, "The Harbour Tunnel cost 9 billion dollars.", "https://a.example/", 0)
	made.Quote = "The Harbour Tunnel cost a lot."
	lost := found(2, "The Eastmere Bridge cost 9 billion dollars.", "https://a.example/", 0)
	lost.Quote = "cost of bridge"
	result := Report(&workv1.ReportTask{
		Prompt:  "What did the Harbour Tunnel and the Eastmere Bridge cost?",
		Queries: []*workv1.ReportQuery{{Extractions: []*workv1.Extraction{made, lost}}},
	})
	require.NotContains(t, result.GetMarkdown(), "9 billion")
	require.Contains(t, result.GetMarkdown(), "The Harbour Tunnel cost a lot.")
	require.EqualValues(t, 1, result.GetDropped())
}

func TestReportHoldsForAnyExtractions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		task := &workv1.ReportTask{Prompt: rapid.String().Draw(t, "prompt"), Notes: []string{rapid.String().Draw(t, "note")}}
		query := &workv1.ReportQuery{Text: rapid.String().Draw(t, "query")}
		for i := range rapid.IntRange(0, 6).Draw(t, "extractions") {
			claim := rapid.OneOf(rapid.String(), rapid.Just("The tunnel [2] cost 5 dollars. It was # late.")).Draw(t, "claim")
			e := found(int64(i+1), claim, "https://x.example/"+rapid.StringMatching(`[a-z]{0,3}`).Draw(t, "path"), i)
			e.Title = rapid.String().Draw(t, "title")
			query.Extractions = append(query.Extractions, e)
		}
		task.Queries = []*workv1.ReportQuery{query}
		requireSound(t, task, Report(task))
	})
}

// requireSound holds what is true of every report: numbers without a gap, each
// listed with the exact URL, each sentence out of an extraction that it cites.
func requireSound(t require.TestingT, task *workv1.ReportTask, result *workv1.ReportResult) {
	require.True(t, utf8.ValidString(result.GetMarkdown()))
	quotes := map[int64]string{}
	known := map[string]bool{}
	for _, query := range task.GetQueries() {
		for _, e := range query.GetExtractions() {
			quotes[e.GetExtractionId()] = strings.Join(strings.Fields(e.GetClaim()+" "+plain(e.GetQuote())), " ")
			known[e.GetUrl()] = true
		}
	}
	for i, c := range result.GetCitations() {
		require.EqualValues(t, i+1, c.GetNumber())
		require.True(t, known[c.GetUrl()], c.GetUrl())
		require.NotEmpty(t, c.GetExtractionIds())
		require.Contains(t, result.GetMarkdown(), fmt.Sprintf("\n[%d] ", c.GetNumber()))
		require.Contains(t, result.GetMarkdown(), "<"+c.GetUrl()+">")
	}
	for _, sentence := range result.GetVerification() {
		require.True(t, sentence.GetSupported())
		require.NotEmpty(t, sentence.GetCitations())
		require.NotEmpty(t, sentence.GetExtractionIds())
		own := false
		for _, id := range sentence.GetExtractionIds() {
			own = own || strings.Contains(quotes[id], sentence.GetSentence())
		}
		require.True(t, own, sentence.GetSentence())
		var marks strings.Builder
		for _, number := range sentence.GetCitations() {
			fmt.Fprintf(&marks, "[%d]", number)
		}
		require.Contains(t, result.GetMarkdown(), escape(fullStop(sentence.GetSentence()))+" "+marks.String())
	}
}

func BenchmarkReport(b *testing.B) {
	sentences := strings.Split(longArticle(1000), ". ")
	query := &workv1.ReportQuery{Text: "tunnel cost"}
	for i := range 5000 {
		query.Extractions = append(query.Extractions, found(int64(i+1), sentences[i%len(sentences)]+".", fmt.Sprintf("https://s%d.example/", i%700), 0))
	}
	task := &workv1.ReportTask{Prompt: "What did the tunnel near the harbour cost?", Queries: []*workv1.ReportQuery{query}}
	for b.Loop() {
		Report(task)
	}
}
