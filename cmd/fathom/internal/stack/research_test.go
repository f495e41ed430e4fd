package stack

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/cmd/fathom/internal/client"
	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	"github.com/fathom-research/fathom/testkit/fakemodel"
	"github.com/fathom-research/fathom/testkit/fakeweb"
)

const (
	mostPages = 7
	prompt    = "How were the stations of the coast counted since 1950, and what did each survey find?"
)

// world is a whole stack beside a web and a model that are made up.
type world struct {
	// url is the gateway's.
	url    string
	client *client.Client
	model  *fakemodel.Server
	web    *fakeweb.Web
	// stop ends the stack, and returns when it has ended.
	stop func()
}

// latencies are how long the made-up services take for an answer.
type latencies struct{ search, page, model time.Duration }

func newWorld(t testing.TB, takes latencies) *world {
	t.Helper()
	w := &world{
		model: fakemodel.Start(t, fakemodel.Options{Latency: takes.model}),
		web:   fakeweb.Start(t, fakeweb.Options{Sites: 240, SearchLatency: takes.search, PageLatency: takes.page}),
	}
	started, err := Start(t.Context(), Config{
		Settings:    Settings{DataDir: enterable(t), HTTPAddr: "127.0.0.1:0", StateAddr: "127.0.0.1:0", SearXNGURL: w.web.SearchURL},
		Environment: w.environment(),
		Logger:      quiet(),
		Metrics:     promhttp.Handler(),
	})
	require.NoError(t, err)
	w.url = started.URL()
	w.client, err = client.New(w.url)
	require.NoError(t, err)
	t.Cleanup(w.client.Close)
	w.stop = serve(t, started)
	return w
}

// environment gives the services slots for all that may go on at once, since the
// made-up web and model have no bound of their own.
func (w *world) environment() map[string]string {
	return map[string]string{
		"FATHOM_SEARXNG_URL":               w.web.SearchURL,
		"FATHOM_SEARCHER_CONCURRENCY":      "64",
		"FATHOM_SEARCHER_HOST_CONCURRENCY": "64",
		"FATHOM_SCRAPER_MODE":              "http",
		"FATHOM_SCRAPER_CONCURRENCY":       "256",
		"FATHOM_SCRAPER_ALLOW":             strings.Join(w.web.Hosts, ","),
		"FATHOM_SCRAPER_GAP":               "0s",
		"FATHOM_LLM_PROVIDER":              "openai",
		"FATHOM_LLM_BASE_URL":              w.model.URL,
		"FATHOM_LLM_MODEL":                 "fake",
		"FATHOM_LLM_API_KEY":               "fake",
	}
}

func serve(t testing.TB, started *Stack) func() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- started.Run(ctx) }()
	stopped := false
	stop := func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		require.NoError(t, <-ended)
	}
	t.Cleanup(stop)
	return stop
}

// enterable makes a folder that the user of Postgres may enter, which t.TempDir is
// not when root runs the test.
func enterable(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "stack-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// ask stores a research, and returns its id when its question is there.
func (w *world) ask(t testing.TB) string {
	t.Helper()
	asked, err := w.client.CreateQuestions(t.Context(), &researchv1.CreateQuestionsRequest{InitialPrompt: prompt, NumQuestions: 1})
	require.NoError(t, err)
	return asked.GetResearchId()
}

// research starts the research and returns its record and how long it took: until its
// last event came.
func (w *world) research(t testing.TB, id string, depth, breadth int32) (*researchv1.Research, time.Duration) {
	t.Helper()
	begun := time.Now()
	_, err := w.client.Start(t.Context(), &researchv1.StartResearchRequest{
		ResearchId: id, FollowupAnswers: []string{"No preference."}, Depth: depth, Breadth: breadth,
	})
	require.NoError(t, err)
	var took time.Duration
	err = w.client.Watch(t.Context(), id, 0, func(*researchv1.Event) error {
		took = time.Since(begun)
		return nil
	})
	require.NoError(t, err)
	record, err := w.client.Get(t.Context(), id, "")
	require.NoError(t, err)
	return record, took
}

// requireWhole checks that a record has the levels, that each of its pages is settled
// and that its report cites what was read and nothing else.
func requireWhole(t testing.TB, record *researchv1.Research, levels map[int32]int) {
	t.Helper()
	require.Equal(t, "completed", record.GetStatus(), record.GetReason())
	got := make(map[int32]int)
	for _, query := range record.GetSerpQueries() {
		got[query.GetDepth()]++
		require.Equal(t, "completed", query.GetStatus(), query.GetText())
	}
	require.Equal(t, levels, got)
	pages := make(map[string]int)
	read := make(map[string]bool)
	for _, page := range record.GetSuccessfulScrapedWebsites() {
		pages[page.GetQueryId()]++
		require.Contains(t, []string{"analyzed", "failed"}, page.GetStatus(), page.GetUrl())
		read[page.GetUrl()] = page.GetStatus() == "analyzed" || read[page.GetUrl()]
	}
	require.Len(t, pages, len(record.GetSerpQueries()), "every query has pages")
	for query, n := range pages {
		require.LessOrEqual(t, n, mostPages, query)
	}
	text, sources, found := strings.Cut(record.GetReport().GetValue(), "## Sources")
	require.True(t, found)
	require.Regexp(t, `\[\d+\]`, text)
	cited := regexp.MustCompile(`https?://[^\s)>\]]+`).FindAllString(sources, -1)
	require.NotEmpty(t, cited)
	for _, url := range cited {
		require.True(t, read[url], "%s is cited and was not read", url)
	}
}

func TestResearchWithAModelIsWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, latencies{})
	record, _ := w.research(t, w.ask(t), 3, 3)
	requireWhole(t, record, map[int32]int{1: 3, 2: 6, 3: 6})
	_, repeated := w.model.Paid()
	require.Zero(t, repeated, "calls that were paid for twice")
}
