package cli

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
)

const e2eTimeout = 3 * time.Minute

func TestResearchFromPromptToReport(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), e2eTimeout)
	defer cancel()
	dir := dataDir(t)
	got := fathom(ctx, "", nil, "research", "How does Raft elect a leader, and how does Kafka replicate its partitions?",
		"--depth", "2", "--breadth", "3", "--questions", "2", "--data", dir)
	require.Zero(t, got.status, got.err)
	require.Contains(t, got.err, "Searching the sample corpus, not the web")
	require.Contains(t, got.err, "built-in engine")
	require.Equal(t, 2, strings.Count(got.err, noPreference), "it asks nobody")
	require.Contains(t, got.err, "Planned: 9 queries")

	// The second time on the same folder, each command starting what it needs.
	listed := fathom(ctx, "", nil, "ls", "--json", "--data", dir)
	require.Zero(t, listed.status, listed.err)
	var list struct {
		Researches []struct {
			ID     string `json:"research_id"`
			Status string `json:"status"`
		} `json:"researches"`
	}
	require.NoError(t, json.Unmarshal([]byte(listed.out), &list))
	require.Len(t, list.Researches, 1)
	require.Equal(t, "completed", list.Researches[0].Status)
	id := list.Researches[0].ID

	shown := fathom(ctx, "", nil, "show", "--json", id, "--data", dir)
	require.Zero(t, shown.status, shown.err)
	record := new(researchv1.Research)
	require.NoError(t, protojson.Unmarshal([]byte(shown.out), record))
	requireWhole(t, record, map[int32]int{1: 3, 2: 6})
	requireCited(t, record, got.out)
	require.Equal(t, strings.TrimSpace(record.GetReport().GetValue()), strings.TrimSpace(got.out))

	again := fathom(ctx, "", nil, "report", id, "--data", dir)
	require.Equal(t, got.out, again.out)
	require.Contains(t, fathom(ctx, "", nil, "show", id, "--data", dir).out, "9 of 9 queries done, 0 failed")
	require.Contains(t, fathom(ctx, "", nil, "cancel", id, "--data", dir).err, "fathom: ")
}

// requireWhole checks that the tree has exactly the levels, and that nothing is open.
func requireWhole(t *testing.T, record *researchv1.Research, levels map[int32]int) {
	t.Helper()
	got := make(map[int32]int)
	children := make(map[string]int)
	for _, query := range record.GetSerpQueries() {
		got[query.GetDepth()]++
		children[query.GetParentQueryId().GetValue()]++
		require.Equal(t, "completed", query.GetStatus(), query.GetText())
		require.NotEmpty(t, query.GetObjective())
	}
	require.Equal(t, levels, got)
	for _, query := range record.GetSerpQueries() {
		if int(query.GetDepth()) < len(levels) {
			require.Equal(t, levels[query.GetDepth()+1]/levels[query.GetDepth()], children[query.GetQueryId()], query.GetText())
		}
	}
	pages := make(map[string]int)
	for _, page := range record.GetSuccessfulScrapedWebsites() {
		pages[page.GetQueryId()]++
		require.Contains(t, []string{"analyzed", "failed"}, page.GetStatus())
	}
	for query, n := range pages {
		require.LessOrEqual(t, n, 7, query)
	}
	require.NotEmpty(t, pages)
}

var sourceLine = regexp.MustCompile(`https?://[^\s)>\]]+`)

// requireCited checks that a report cites pages that the research has read, and no others.
func requireCited(t *testing.T, record *researchv1.Research, report string) {
	t.Helper()
	require.Regexp(t, `\[\d+\]`, report)
	read := make(map[string]bool)
	for _, page := range record.GetSuccessfulScrapedWebsites() {
		if page.GetStatus() == "analyzed" {
			read[page.GetUrl()] = true
		}
	}
	_, sources, found := strings.Cut(report, "## Sources")
	require.True(t, found, report)
	urls := sourceLine.FindAllString(sources, -1)
	require.NotEmpty(t, urls)
	for _, url := range urls {
		require.True(t, read[url], "%s is cited and was not read", url)
	}
}
