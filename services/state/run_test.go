package state_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
)

func TestResearchFromPromptToReport(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.workers(t, nil)
	id := s.begin(t, 2, 3)
	events := s.watch(t, id)
	require.Equal(t, "research.asking", events[0].GetType())
	require.Equal(t, "research.completed", events[len(events)-1].GetType())

	record := s.get(t, id)
	require.Equal(t, "completed", record.GetStatus())
	require.Equal(t, []string{"one", ""}, record.GetFollowupAnswers())
	require.Len(t, record.GetSerpQueries(), 9)
	require.Len(t, record.GetSuccessfulScrapedWebsites(), 27)
	for _, site := range record.GetSuccessfulScrapedWebsites() {
		require.Equal(t, "analyzed", site.GetStatus())
		require.Equal(t, "Text of "+site.GetUrl(), site.GetContent().GetValue())
	}
	require.Equal(t, "# Report\n", record.GetReport().GetValue())
	// Questions, four plans, nine searches, 27 pages twice, and the report.
	require.Equal(t, int32(1+4+9+27+27+1), record.GetUsage().GetModelCalls())
	require.Equal(t, int32(27), record.GetCounts().GetWebsitesAnalyzed())
	require.Equal(t, int32(36), record.GetCounts().GetReasons()["ok"])

	report, err := s.client.GetReport(t.Context(), &researchv1.GetReportRequest{ResearchId: id})
	require.NoError(t, err)
	require.Len(t, report.GetCitations(), 9)
	for _, citation := range report.GetCitations() {
		require.Equal(t, "Text of "+citation.GetUrl(), citation.GetEvidence()[0].GetQuote())
	}

	for url, want := range map[string]string{
		report.GetCitations()[0].GetUrl(): "",
		"https://example.org/nowhere":     "The research has no page of that URL that was read: it is completed",
	} {
		snapshot, err := s.client.GetSnapshot(t.Context(), &researchv1.GetSnapshotRequest{ResearchId: id, Url: url})
		require.Equal(t, want, status.Convert(err).Message())
		if want == "" {
			require.Equal(t, "raw bytes", string(snapshot.GetZstd()))
			require.Equal(t, "text/html", snapshot.GetContentType())
			require.WithinDuration(t, time.Now(), snapshot.GetReadAt().AsTime(), time.Minute)
		}
	}

	_, err = s.client.GetErrorOutput(t.Context(), &researchv1.GetErrorOutputRequest{ResearchId: id})
	require.Equal(t, "The research has no error output: it is completed", status.Convert(err).Message())
	require.Equal(t, codes.NotFound, status.Code(err))

	summary, err := s.client.GetResearch(t.Context(), &researchv1.GetResearchRequest{ResearchId: id, View: "summary"})
	require.NoError(t, err)
	require.Nil(t, summary.GetReport())
	require.Nil(t, summary.GetSuccessfulScrapedWebsites()[0].GetContent())
	list, err := s.client.ListResearches(t.Context(), &researchv1.ListResearchesRequest{Status: "completed"})
	require.NoError(t, err)
	require.Len(t, list.GetResearches(), 1)
	require.Equal(t, int32(9), list.GetResearches()[0].GetCounts().GetQueriesCompleted())
}
