package searcher_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/config"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/searcher"
	"github.com/fathom-research/fathom/testkit/bustest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// searxng is a small SearXNG that counts how many requests it has open.
type searxng struct {
	mu       sync.Mutex
	open     int
	most     int
	asked    int
	statuses []int
}

func (s *searxng) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.open++
	s.asked++
	s.most = max(s.most, s.open)
	status := http.StatusOK
	if len(s.statuses) > 0 {
		status, s.statuses = s.statuses[0], s.statuses[1:]
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.open--
		s.mu.Unlock()
	}()
	if status != http.StatusOK {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"number_of_results":0,"results":[
		{"url":"https://example.org/%[1]s?utm_source=x","title":"On %[1]s","content":"text","engine":"wiki"},
		{"url":"https://EXAMPLE.org/%[1]s","title":"again"},
		{"url":"https://example.org/other","title":"Other"}],"unresponsive_engines":[["bing","timeout"]]}`, r.FormValue("q"))
}

// run starts a searcher on a real bus and returns what its results are read from.
func run(t *testing.T, engine http.Handler, adjust func(*searcher.Config)) (*bus.Bus, <-chan *workv1.Result) {
	t.Helper()
	server := httptest.NewServer(engine)
	t.Cleanup(server.Close)
	log := slog.New(slog.DiscardHandler)
	opened := bustest.Open(t)

	var cfg searcher.Config
	require.NoError(t, config.LoadFrom(&cfg, map[string]string{"FATHOM_SEARXNG_URL": server.URL}))
	if adjust != nil {
		adjust(&cfg)
	}
	service, err := searcher.New(cfg, searcher.Deps{Bus: opened, Logger: log})
	require.NoError(t, err)

	return opened, bustest.Serve(t, opened, service.Run)
}

func task(id, query string) *workv1.Task {
	return &workv1.Task{
		ResearchId: "r1", TaskId: id, Tenant: "default", TimeLimit: durationpb.New(30 * time.Second),
		Payload: &workv1.Task_Search{Search: &workv1.SearchTask{Query: query, Limit: 7}},
	}
}

func TestATaskBecomesHits(t *testing.T) {
	t.Parallel()
	b, results := run(t, &searxng{}, nil)
	require.NoError(t, b.PublishTask(t.Context(), task("t1", "water")))
	result := bustest.Await(t, results)
	require.Nil(t, result.GetFailure())
	require.Equal(t, "t1", result.GetTaskId())
	hits := result.GetSearch().GetHits()
	require.Len(t, hits, 2)
	require.Equal(t, "https://example.org/water?utm_source=x", hits[0].GetUrl())
	require.Equal(t, "https://example.org/water", hits[0].GetNormalizedUrl())
	require.Equal(t, []string{"bing: timeout"}, result.GetSearch().GetUnresponsive())
}

func TestAFailureIsAResult(t *testing.T) {
	t.Parallel()
	b, results := run(t, &searxng{statuses: []int{http.StatusForbidden}}, nil)
	require.NoError(t, b.PublishTask(t.Context(), task("t1", "water")))
	failure := bustest.Await(t, results).GetFailure()
	require.Equal(t, string(fault.Misconfigured), failure.GetCode())
	require.False(t, failure.GetRetryable())
	require.Contains(t, failure.GetMessage(), "search.formats")
}

func TestRetryAfterHoldsForEverybody(t *testing.T) {
	t.Parallel()
	engine := &searxng{statuses: []int{http.StatusTooManyRequests}}
	b, results := run(t, engine, func(cfg *searcher.Config) { cfg.HostWait = 0 })
	require.NoError(t, b.PublishTask(t.Context(), task("t1", "water")))
	failure := bustest.Await(t, results).GetFailure()
	require.Equal(t, string(fault.RateLimited), failure.GetCode())
	require.Equal(t, 30*time.Second, failure.GetRetryAfter().AsDuration())

	require.NoError(t, b.PublishTask(t.Context(), task("t2", "water")))
	deferred := bustest.Await(t, results).GetDeferred()
	require.NotNil(t, deferred, "no try was made")
	require.Greater(t, time.Until(deferred.GetUntil().AsTime()), 20*time.Second)
	require.Equal(t, 1, engine.asked)
}

func TestTheHostsLimitHoldsOverAllSlots(t *testing.T) {
	t.Parallel()
	engine := &searxng{}
	b, results := run(t, engine, func(cfg *searcher.Config) {
		cfg.HostConcurrency = 2
		cfg.Pages = 1
		cfg.HostWait = 20 * time.Second
	})
	for i := range 24 {
		require.NoError(t, b.PublishTask(t.Context(), task(fmt.Sprint("t", i), "water")))
	}
	for range 24 {
		require.NotNil(t, bustest.Await(t, results).GetSearch())
	}
	require.LessOrEqual(t, engine.most, 2)
	require.Equal(t, 24, engine.asked)
}

func TestATaskOfAnotherKindIsMalformed(t *testing.T) {
	t.Parallel()
	service, err := searcher.New(valid(), searcher.Deps{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	_, err = service.Handle(t.Context(), &workv1.Task{Payload: &workv1.Task_Scrape{}})
	require.Equal(t, fault.Malformed, fault.As(err).Code)
}

func valid() searcher.Config {
	return searcher.Config{URL: "http://127.0.0.1:8888", Concurrency: 1, Timeout: time.Second, Pages: 1}
}

func TestConfigNamesEveryMistake(t *testing.T) {
	t.Parallel()
	require.NoError(t, valid().Validate())
	var cfg searcher.Config
	err := config.LoadFrom(&cfg, map[string]string{
		"FATHOM_SEARXNG_URL": "ftp://user:secret@example.org", "FATHOM_SEARCHER_CONCURRENCY": "0", "FATHOM_SEARCHER_TIMEOUT": "1ms",
		"FATHOM_SEARCHER_PAGES": "0", "FATHOM_SEARCHER_HOST_CONCURRENCY": "-1", "FATHOM_SEARCHER_HOST_GAP": "-1s", "FATHOM_SEARCHER_HOST_WAIT": "2m",
	})
	for _, name := range []string{"FATHOM_SEARXNG_URL", "CONCURRENCY is 0", "TIMEOUT", "PAGES", "HOST_CONCURRENCY", "HOST_GAP", "HOST_WAIT"} {
		require.ErrorContains(t, err, name)
	}
	require.NotContains(t, err.Error(), "secret")
	for _, address := range []string{"", "example.org", "http://", "://", "http://h/?q=1", "http://h/#x", "http://user:secret@ h"} {
		cfg := valid()
		cfg.URL = address
		err := cfg.Validate()
		require.ErrorContains(t, err, "FATHOM_SEARXNG_URL", address)
		require.NotContains(t, err.Error(), "secret")
	}
}
