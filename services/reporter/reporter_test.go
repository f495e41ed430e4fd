package reporter_test

import (
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/config"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/reporter"
	"github.com/fathom-research/fathom/testkit/bustest"
	"github.com/fathom-research/fathom/testkit/fakemodel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func setup(t *testing.T, url string) (*reporter.Service, *bus.Bus) {
	t.Helper()
	environment := map[string]string{"FATHOM_LLM_RETRIES": "0"}
	if url != "" {
		environment["FATHOM_LLM_BASE_URL"], environment["FATHOM_LLM_MODEL"] = url, "m"
	}
	var cfg reporter.Config
	require.NoError(t, config.LoadFrom(&cfg, environment))
	b := bustest.Open(t)
	service, err := reporter.New(cfg, reporter.Deps{Bus: b, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return service, b
}

func extraction(id int64, url, title, claim string) *workv1.Extraction {
	return &workv1.Extraction{
		ExtractionId: id, Url: url, Title: title, Claim: claim, Quote: claim, Relevance: 0.8,
		Published: timestamppb.New(time.Date(2024, 5, 6, 0, 0, 0, 0, time.UTC)),
	}
}

func task() *workv1.Task {
	return &workv1.Task{
		ResearchId: "r", TaskId: "a", TimeLimit: durationpb.New(time.Minute),
		Payload: &workv1.Task_Report{Report: &workv1.ReportTask{
			Prompt: "How did Oslo cut traffic deaths?", Words: 300, Sources: 10,
			Clarifications: []*workv1.Clarification{{Question: "Which years?", Answer: "2015 to 2019"}},
			Queries: []*workv1.ReportQuery{
				{QueryId: "q1", Depth: 1, Text: "Oslo parking removal", Objective: "What Oslo did with its parking spaces.", Status: "completed", Extractions: []*workv1.Extraction{
					extraction(1, "https://a.example/oslo?x=1&y=2", "Streets [of] Oslo", "Oslo removed 760 parking spaces between 2015 and 2019."),
					extraction(2, "https://b.example/", "Deaths", "One person died in traffic in Oslo in 2019."),
				}},
				{QueryId: "q2", ParentQueryId: "q1", Depth: 2, Text: "Oslo speed limits", Objective: "Which speed limits hold in Oslo.", Status: "completed", Extractions: []*workv1.Extraction{
					extraction(3, "https://c.example/", "Speed", "Most streets in Oslo have a speed limit of 30 km/h."),
				}},
				{QueryId: "q3", Depth: 1, Text: "Oslo costs", Objective: "What the measures cost.", Status: "completed", Reason: "empty"},
			},
			Notes: []string{"The budget was used up."},
			Tally: &workv1.Tally{QueriesCompleted: 3, PagesAnalyzed: 4, PagesFailed: 2, Reasons: map[string]int32{"ok": 4, "timed_out": 2}},
		}},
	}
}

const (
	outline = `{"title": "How Oslo cut traffic deaths", "sections": [
		{"heading": "Parking", "focus": "What was done with parking spaces, and how many died."},
		{"heading": "Speed limits", "focus": "The speed limit on streets in Oslo."}]}`
	// section is given for both sections: what doubles is told once.
	section = `{"paragraphs": [{"sentences": [
		{"sentence": "Between 2015 and 2019, Oslo removed 760 parking spaces [1].", "sources": [1]},
		{"sentence": "In 2019 one person died in traffic in Oslo.", "sources": [1]},
		{"sentence": "Most streets in Oslo have a speed limit of 50 km/h.", "sources": [3]},
		{"sentence": "Oslo is widely seen as a miracle by experts everywhere.", "sources": [2]}]}]}`
	repair = `{"sentences": [
		{"number": 1, "sentence": "Most streets in Oslo have a speed limit of 30 km/h.", "sources": [3]},
		{"number": 2, "sentence": "", "sources": []},
		{"number": 9, "sentence": "x", "sources": [1]}]}`
	summary = `{"sentences": [
		{"sentence": "One person died in traffic in Oslo in 2019.", "sources": [2]},
		{"sentence": "The approach can be copied by any city on Earth.", "sources": [1]}]}`
)

func TestWritesACitedReport(t *testing.T) {
	t.Parallel()
	script := fakemodel.StartScriptBySchema(t, map[string]string{"outline": outline, "section": section, "repair": repair, "summary": summary})
	service, _ := setup(t, script.URL)
	result, err := service.Handle(t.Context(), task())
	require.NoError(t, err)
	report := result.GetReport()
	text := report.GetMarkdown()
	require.True(t, strings.HasPrefix(text, "# How Oslo cut traffic deaths\n"), text)
	require.Contains(t, text, "## Summary\n\nOne person died in traffic in Oslo in 2019 [1].\n")
	require.Contains(t, text, "Between 2015 and 2019, Oslo removed 760 parking spaces [2].")
	require.Contains(t, text, "In 2019 one person died in traffic in Oslo [1].", "a wrong number is put right")
	require.Contains(t, text, "speed limit of 30 km/h [3].", "what could be mended is")
	require.NotContains(t, text, "50 km/h")
	require.NotContains(t, text, "miracle")
	require.NotContains(t, text, "any city on Earth")
	require.Equal(t, 1, strings.Count(text, "760 parking spaces"))
	require.Contains(t, text, "## What stayed unanswered\n\nNothing that could be used was found for these objectives:\n\n- What the measures cost. (empty)\n")
	require.Contains(t, text, "3 queries were completed, 0 failed; 4 pages were analyzed, 2 failed (timed out: 2).")
	require.Contains(t, text, "- The budget was used up.")
	require.Contains(t, text, "- [2] Streets of Oslo (2024-05-06). <https://a.example/oslo?x=1&y=2>\n")
	require.Equal(t, 2, script.Calls("section"))
	require.Equal(t, int32(5), result.GetUsage().GetModelCalls())
	require.Positive(t, report.GetDropped())
	requireSound(t, report)
	require.Equal(t, []int64{1}, report.GetCitations()[1].GetExtractionIds())

	t.Run("and a crash pays nothing twice", func(t *testing.T) {
		again, err := service.Handle(t.Context(), task())
		require.NoError(t, err)
		require.Equal(t, text, again.GetReport().GetMarkdown())
		require.Zero(t, again.GetUsage().GetModelCalls())
		require.Equal(t, int32(5), again.GetUsage().GetJournalledCalls())
	})
}

var marks = regexp.MustCompile(`\[(\d+)\]`)

// requireSound checks what must hold of every report: each mark has its source, each
// source is used, numbers have no gap and follow the order of first use, and each
// checked sentence stands in the text.
func requireSound(t *testing.T, report *workv1.ReportResult) {
	t.Helper()
	body, _, _ := strings.Cut(report.GetMarkdown(), "## Sources")
	next := 1
	seen := make(map[string]bool)
	for _, mark := range marks.FindAllStringSubmatch(body, -1) {
		if !seen[mark[1]] {
			require.Equal(t, fmt.Sprint(next), mark[1], "numbers follow first use")
			seen[mark[1]] = true
			next++
		}
	}
	require.Len(t, report.GetCitations(), next-1)
	for i, citation := range report.GetCitations() {
		require.Equal(t, int32(i+1), citation.GetNumber())
		require.Contains(t, report.GetMarkdown(), "<"+citation.GetUrl()+">")
		require.NotEmpty(t, citation.GetExtractionIds())
	}
	for _, checked := range report.GetVerification() {
		require.True(t, checked.GetSupported())
		require.NotEmpty(t, checked.GetCitations())
		require.NotEmpty(t, checked.GetExtractionIds())
	}
}

func TestServesTheBus(t *testing.T) {
	t.Parallel()
	service, b := setup(t, fakemodel.Start(t, fakemodel.Options{}).URL)
	results := bustest.Serve(t, b, service.Run)
	require.NoError(t, b.PublishTask(t.Context(), task()))
	result := bustest.Await(t, results)
	require.Nil(t, result.GetFailure())
	require.NotEmpty(t, result.GetReport().GetCitations())
	requireSound(t, result.GetReport())
}

func TestAPartialReportComesWithItsFailure(t *testing.T) {
	t.Parallel()
	script := fakemodel.StartScriptBySchema(t, map[string]string{"outline": outline, "section": section, "repair": repair})
	service, _ := setup(t, script.URL)
	result, err := service.Handle(t.Context(), task())
	require.Equal(t, fault.Unavailable, fault.As(err).Code)
	text := result.GetReport().GetMarkdown()
	require.Contains(t, text, "760 parking spaces")
	require.Contains(t, text, "The report is incomplete, since writing it failed")
	requireSound(t, result.GetReport())
}

func TestNothingIsReportedWhenThePlanFails(t *testing.T) {
	t.Parallel()
	script := fakemodel.StartScriptBySchema(t, nil)
	service, _ := setup(t, script.URL)
	result, err := service.Handle(t.Context(), task())
	require.Error(t, err)
	require.Nil(t, result.GetReport())
}

func TestAModelThatGivesNothingUsableStillLeavesTheFindings(t *testing.T) {
	t.Parallel()
	script := fakemodel.StartScriptBySchema(t, map[string]string{"outline": "no", "section": "no", "repair": "no", "summary": "no"})
	service, _ := setup(t, script.URL)
	result, err := service.Handle(t.Context(), task())
	require.NoError(t, err)
	require.Contains(t, result.GetReport().GetMarkdown(), "- Oslo removed 760 parking spaces between 2015 and 2019 [1].")
	requireSound(t, result.GetReport())
}

func TestAResearchThatFoundNothingSaysSoWithoutAModel(t *testing.T) {
	t.Parallel()
	script := fakemodel.StartScriptBySchema(t, nil)
	service, _ := setup(t, script.URL)
	empty := task()
	for _, query := range empty.GetReport().GetQueries() {
		query.Extractions, query.Status, query.Reason = nil, "failed", "timed_out"
	}
	empty.GetReport().Tally = &workv1.Tally{QueriesFailed: 3, Reasons: map[string]int32{"timed_out": 3}}
	result, err := service.Handle(t.Context(), empty)
	require.NoError(t, err)
	require.Empty(t, script.Prompts())
	require.Empty(t, result.GetReport().GetCitations())
	require.Contains(t, result.GetReport().GetMarkdown(), "nothing was found")
	require.Contains(t, result.GetReport().GetMarkdown(), "timed out 3")
}

func TestTheBuiltinEnginesReportPassesTheSameGate(t *testing.T) {
	t.Parallel()
	service, _ := setup(t, "")
	result, err := service.Handle(t.Context(), task())
	require.NoError(t, err)
	require.Contains(t, result.GetReport().GetMarkdown(), "760 parking spaces")
	requireSound(t, result.GetReport())
}

func TestTheBoundsOfAReportHold(t *testing.T) {
	t.Parallel()
	long := task()
	report := long.GetReport()
	report.Words, report.Sources = 60, 2
	for i := range 40 {
		claim := fmt.Sprintf("The street number %d in Oslo was closed to cars in the year %d by the council.", i+100, 1950+i)
		report.Queries[1].Extractions = append(report.Queries[1].Extractions, extraction(int64(10+i), fmt.Sprintf("https://many.example/%d", i), "t", claim))
	}
	script := fakemodel.StartScriptBySchema(t, map[string]string{
		"outline": outline, "repair": `{"sentences": []}`, "summary": `{"sentences": []}`,
		"section": `{"paragraphs": [{"sentences": [` + strings.Repeat(`{"sentence": "Between 2015 and 2019, Oslo removed 760 parking spaces.", "sources": [1]},`, 30) +
			`{"sentence": "Most streets in Oslo have a speed limit of 30 km/h.", "sources": [2]}]}]}`,
	})
	service, _ := setup(t, script.URL)
	result, err := service.Handle(t.Context(), long)
	require.NoError(t, err)
	require.LessOrEqual(t, len(result.GetReport().GetCitations()), 2)
	require.Less(t, len(strings.Fields(result.GetReport().GetMarkdown())), 200)
}

func TestConfigNamesItsMistakes(t *testing.T) {
	t.Parallel()
	var cfg reporter.Config
	err := config.LoadFrom(&cfg, map[string]string{"FATHOM_REPORTER_CONCURRENCY": "-1", "FATHOM_REPORTER_SECTIONS": "0"})
	require.ErrorContains(t, err, "FATHOM_REPORTER_CONCURRENCY")
	require.ErrorContains(t, err, "FATHOM_REPORTER_SECTIONS")
}
