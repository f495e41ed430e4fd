package builtin

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

const article = `# Harbour tunnel opens after nine years

By Ann Reed, 4 May 2021

Accept all cookies to continue reading this site.

The Harbour Tunnel between Port Vale and Eastmere opened on Monday after nine years of work. It cost $2.4 billion, twice what was planned in 2012. Will it pay for itself?

## Money

The overrun was caused by flooding in the northern shaft, the engineers' report of March 2020 found. Toll income of 90 million dollars a year is expected by the operator, Vale Crossings Ltd.

| Year | Cost (million $) |
| --- | --- |
| 2012 | 1200 |
| 2021 | 2400 |

## Wildlife

Seals returned to the bay within months. Biologists of Eastmere College counted forty of them in April.

Sign up for our newsletter to get the best stories in your inbox.

## References

Smith, J. (2019). Tunnels of the coast. The cost of the Harbour Tunnel is discussed at length.
`

func harbourTask() *workv1.AnalyzeTask {
	return &workv1.AnalyzeTask{
		Prompt:    "Why did the Harbour Tunnel cost more than planned?",
		Query:     "Harbour Tunnel cost overrun cause",
		Objective: "Find the causes and reasons behind the cost of the Harbour Tunnel.",
		Url:       "https://news.example/harbour?a=1#top",
		Title:     "Harbour tunnel opens after nine years",
		Text:      article,
	}
}

func BenchmarkExtract(b *testing.B) {
	task := harbourTask()
	task.Text = strings.Repeat(article, 20)
	b.SetBytes(int64(len(task.GetText())))
	b.ReportAllocs()
	for b.Loop() {
		Extract(task)
	}
}

func BenchmarkExtractDistinct(b *testing.B) {
	task := harbourTask()
	task.Text = longArticle(200)
	b.SetBytes(int64(len(task.GetText())))
	b.ReportAllocs()
	for b.Loop() {
		Extract(task)
	}
}

// longArticle has no two sentences alike.
func longArticle(paragraphs int) string {
	nouns := strings.Fields("tunnel harbour shaft budget engineer flood toll bridge report city council seal bay ferry concrete")
	verbs := strings.Fields("delayed raised closed opened paid measured repaired flooded checked passed")
	var text strings.Builder
	for i := range paragraphs {
		for j := range 5 {
			k := i*5 + j
			text.WriteString("In " + digits(1900+k%120) + " the " + nouns[k%len(nouns)] + " near the " + nouns[(k*7+3)%len(nouns)] +
				" was " + verbs[k%len(verbs)] + " by the " + nouns[(k*3+1)%len(nouns)] + " at a cost of " + digits(k*37+11) + " dollars. ")
		}
		text.WriteString("\n\n")
	}
	return text.String()
}

func digits(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return digits(n/10) + string(rune('0'+n%10))
}

func TestExtractFindsWhatWasAsked(t *testing.T) {
	t.Parallel()
	task := harbourTask()
	result := Extract(task)
	require.NotEmpty(t, result.GetExtractions())
	var claims []string
	for _, e := range result.GetExtractions() {
		claims = append(claims, e.GetClaim())
		requireVerbatim(t, task, e)
		require.Equal(t, task.GetUrl(), e.GetUrl())
		require.Equal(t, task.GetTitle(), e.GetTitle())
	}
	all := strings.Join(claims, "\n")
	require.Contains(t, all, "The overrun was caused by flooding in the northern shaft")
	require.NotContains(t, all, "cookies")
	require.NotContains(t, all, "newsletter")
	require.NotContains(t, all, "Will it pay")
	require.NotContains(t, all, "Smith, J.")
	require.NotContains(t, all, "Seals")
}

func TestExtractTakesTheSentenceBeforeAPronoun(t *testing.T) {
	t.Parallel()
	task := harbourTask()
	for _, e := range Extract(task).GetExtractions() {
		if strings.Contains(e.GetQuote(), "It cost $2.4 billion") {
			require.True(t, strings.HasPrefix(e.GetClaim(), "The Harbour Tunnel between Port Vale and Eastmere opened"), e.GetClaim())
			return
		}
	}
	require.Fail(t, "the cost was not extracted")
}

func TestExtractHeadingPath(t *testing.T) {
	t.Parallel()
	task := harbourTask()
	start := int32(strings.Index(article, "## Money"))
	task.Sections = []*workv1.Section{
		{End: start, HeadingPath: nil, Page: 1},
		{Start: start, End: int32(len(article)), HeadingPath: []string{"Report", "Cost of the tunnel"}, Page: 2},
	}
	found := false
	for _, e := range Extract(task).GetExtractions() {
		if strings.Contains(e.GetQuote(), "overrun") {
			require.Equal(t, []string{"Report", "Cost of the tunnel"}, e.GetHeadingPath())
			require.EqualValues(t, 2, e.GetPage())
			found = true
		}
	}
	require.True(t, found)
}

func TestExtractReadsTableRows(t *testing.T) {
	t.Parallel()
	task := harbourTask()
	task.Query = "Harbour Tunnel cost million 2012 year"
	var claims []string
	for _, e := range Extract(task).GetExtractions() {
		claims = append(claims, e.GetClaim())
	}
	require.Contains(t, claims, "2012 — Cost (million $): 1200.")
}

func TestExtractGivesNothingForAnotherSubject(t *testing.T) {
	t.Parallel()
	task := harbourTask()
	task.Prompt = "How does the mantis shrimp perceive polarised light?"
	task.Query = "mantis shrimp polarised light perception"
	task.Objective = "Find how mantis shrimp perceive polarised light."
	require.Empty(t, Extract(task).GetExtractions())
	require.Empty(t, Extract(&workv1.AnalyzeTask{}).GetExtractions())
}

func TestExtractOtherLanguages(t *testing.T) {
	t.Parallel()
	for name, task := range map[string]*workv1.AnalyzeTask{
		"german": {
			Query: "Ursache Kosten Hafentunnel", Language: "de",
			Text: "Der Hafentunnel wurde am Montag eröffnet. Die Kosten für den Hafentunnel stiegen auf zwei Milliarden Euro. Seehunde leben in der Bucht und fressen Fische.",
		},
		"chinese": {
			Query: "隧道 成本",
			Text:  "港口隧道于周一通车。这条隧道的成本上升到二十亿美元。海豹回到了海湾，生物学家数了四十只。",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := Extract(task).GetExtractions()
			require.NotEmpty(t, found)
			for _, e := range found {
				requireVerbatim(t, task, e)
			}
		})
	}
}

func requireVerbatim(t require.TestingT, task *workv1.AnalyzeTask, e *workv1.Extraction) {
	require.GreaterOrEqual(t, e.GetStart(), int32(0))
	require.LessOrEqual(t, int(e.GetEnd()), len(task.GetText()))
	require.Equal(t, task.GetText()[e.GetStart():e.GetEnd()], e.GetQuote())
	require.True(t, utf8.ValidString(e.GetQuote()))
	require.True(t, utf8.ValidString(e.GetClaim()))
	require.NotEmpty(t, strings.TrimSpace(e.GetClaim()))
	require.GreaterOrEqual(t, e.GetRelevance(), 0.0)
	require.LessOrEqual(t, e.GetRelevance(), 1.0)
}

func FuzzExtract(f *testing.F) {
	f.Add(article, "Harbour Tunnel cost", "Why did it cost more?")
	f.Add("| a | b |\n|---|---|\n| x | 1 |\n", "x b", "")
	f.Add("He said. He said (it. \xff\xfe”’ It is [1](", "said", "it")
	f.Add("这条隧道的成本上升。", "隧道", "成本")
	f.Fuzz(func(t *testing.T, text, query, prompt string) {
		task := &workv1.AnalyzeTask{Text: text, Query: query, Objective: query, Prompt: prompt, Title: query}
		for _, e := range Extract(task).GetExtractions() {
			requireVerbatim(t, task, e)
		}
	})
}
