package engine_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/engine"
	"github.com/fathom-research/fathom/services/state/internal/message"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
	"github.com/fathom-research/fathom/testkit/pgtest"
)

func TestMain(m *testing.M) {
	code := pgtest.Main(m)
	err := goleak.Find()
	if code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// world is a database with an engine on it, and workers that always answer the same
// task in the same way.
type world struct {
	url     string
	store   *store.Store
	engine  *engine.Engine
	builder *message.Builder
	// due is sent to when there are new tasks.
	due chan struct{}
}

func settings() engine.Settings {
	return engine.Settings{
		Retry:       workflow.RetryPolicy{Attempts: 4, Base: time.Millisecond, Max: time.Millisecond},
		SearchLimit: 7,
		Deadline:    time.Hour,
		TokenLimits: map[bus.Kind]int64{bus.Questions: 100, bus.Queries: 1000, bus.Analyze: 100, bus.Report: 5000},
		Prices:      engine.Prices{Input: 1, Output: 10},
	}
}

func newWorld(t testing.TB, url string, hooks store.Hooks) *world {
	t.Helper()
	return newWorldWith(t, url, hooks, settings())
}

func newWorldWith(t testing.TB, url string, hooks store.Hooks, settings engine.Settings) *world {
	t.Helper()
	st, err := store.Open(t.Context(), url, 16, hooks)
	require.NoError(t, err)
	t.Cleanup(st.Close)
	due := make(chan struct{}, 1)
	return &world{
		url:   url,
		store: st,
		due:   due,
		engine: engine.New(st, settings, slog.New(slog.DiscardHandler), func(string, store.Changed) {
			select {
			case due <- struct{}{}:
			default:
			}
		}),
		builder: message.NewBuilder(st, message.Limits{Hits: 7, Words: 1500, Sources: 25}),
	}
}

// setDomainPages replaces the engine by one that bounds the pages of a domain.
func (w *world) setDomainPages(most int) {
	bounded := settings()
	bounded.DomainPages = most
	w.engine = engine.New(w.store, bounded, slog.New(slog.DiscardHandler), func(string, store.Changed) {})
}

const tenant = "default"

// create stores a research that waits for its questions.
func (w *world) create(t testing.TB) string {
	t.Helper()
	id, err := w.engine.Create(t.Context(), store.NewResearch{ID: store.NewID(), Tenant: tenant, Prompt: "prompt", NumQuestions: 1}, nil)
	require.NoError(t, err)
	return id
}

// running starts a research whose questions are answered.
func (w *world) running(t testing.TB, depth, breadth int) string {
	t.Helper()
	id := w.create(t)
	w.step(t, id)
	require.NoError(t, w.engine.Start(t.Context(), tenant, id, startRequest(depth, breadth)))
	return id
}

func startRequest(depth, breadth int) engine.StartRequest {
	return engine.StartRequest{Values: store.Start{
		Answers: []string{"an answer"}, Depth: depth, Breadth: breadth, Digest: fmt.Appendf(nil, "%d %d", depth, breadth),
		PlannedQueries:      int(workflow.TreeSize(depth, breadth).Int64()),
		AnalysisConcurrency: 1, Categories: []string{},
	}}
}

// publish claims what is due, marks it as published, and returns the messages.
func (w *world) publish(t testing.TB) []*workv1.Task {
	t.Helper()
	claimed, err := w.store.Claim(t.Context(), 1000, time.Minute)
	require.NoError(t, err)
	messages := make([]*workv1.Task, len(claimed))
	for i, c := range claimed {
		messages[i], err = w.builder.Build(t.Context(), c.Task)
		require.NoError(t, err)
		require.NoError(t, w.engine.Published(t.Context(), c.Tenant, c.ResearchID, []store.Task{c.Task}))
	}
	return messages
}

// step publishes what is due and applies the workers' answers. It reports whether
// there was anything to do.
func (w *world) step(t testing.TB, _ string) bool {
	t.Helper()
	messages := w.publish(t)
	for _, m := range messages {
		w.apply(t, answer(m))
	}
	return len(messages) > 0
}

func (w *world) apply(t testing.TB, result *workv1.Result) engine.Outcome {
	t.Helper()
	outcome, err := w.engine.Apply(t.Context(), result)
	require.NoError(t, err)
	return outcome
}

// finish works until nothing is left to do.
func (w *world) finish(t testing.TB, id string) {
	t.Helper()
	require.Eventually(t, func() bool {
		for w.step(t, id) {
			continue
		}
		return w.status(t, id).Ended()
	}, time.Minute, time.Millisecond)
}

func (w *world) status(t testing.TB, id string) workflow.Status {
	t.Helper()
	research, err := w.store.Research(t.Context(), tenant, id)
	require.NoError(t, err)
	return research.Status
}

func (w *world) record(t testing.TB, id string) *store.Record {
	t.Helper()
	record, err := w.store.Record(t.Context(), tenant, id, true)
	require.NoError(t, err)
	return record
}

func reply(task *workv1.Task) *workv1.Result {
	return &workv1.Result{
		ResearchId: task.GetResearchId(), TaskId: task.GetTaskId(), Tenant: task.GetTenant(),
		Kind: string(bus.KindOf(task)), Attempt: task.GetAttempt(), Delivery: task.GetDelivery(),
		Usage: &workv1.Usage{ModelCalls: 1, InputTokens: 10, OutputTokens: 1},
	}
}

func failure(task *workv1.Task, err error) *workv1.Result {
	result := reply(task)
	result.Failure = fault.ToProto(err)
	return result
}

// answer is the worker of every kind. What it says depends on the task's content
// alone, so a research has one right outcome, whatever the order of events.
func answer(task *workv1.Task) *workv1.Result {
	result := reply(task)
	switch bus.KindOf(task) {
	case bus.Questions:
		result.Payload = &workv1.Result_Questions{Questions: &workv1.QuestionsResult{Questions: texts("question", task.GetQuestions().GetN())}}
	case bus.Queries:
		body := task.GetQueries()
		parent := "q"
		if len(body.GetChain()) > 0 {
			parent = body.GetChain()[len(body.GetChain())-1].GetQuery()
		}
		if planFails(parent) {
			return failure(task, fault.Permanent(fault.InvalidAnswer, "no plan for %s", parent))
		}
		planned := new(workv1.QueriesResult)
		for _, text := range texts(parent, body.GetN()) {
			planned.Queries = append(planned.Queries, &workv1.PlannedQuery{Text: text, Objective: "about " + text})
		}
		result.Payload = &workv1.Result_Queries{Queries: planned}
	case bus.Search:
		query := task.GetSearch().GetQuery()
		if searchFails(query) {
			return failure(task, fault.Permanent(fault.Unavailable, "no engine for %s", query))
		}
		found := new(workv1.SearchResult)
		for _, url := range hits(query) {
			found.Hits = append(found.Hits, &workv1.Hit{Url: url, NormalizedUrl: strings.ToLower(url), Title: url})
		}
		result.Payload = &workv1.Result_Search{Search: found}
	case bus.Scrape:
		url := task.GetScrape().GetUrl()
		if pageFails(url) {
			return failure(task, fault.Permanent(fault.Blocked, "%s is walled", url))
		}
		text := content(url)
		sum := sha256.Sum256([]byte(text))
		result.Payload = &workv1.Result_Scrape{Scrape: &workv1.ScrapeResult{Page: &workv1.Page{
			FinalUrl: url, Title: "Title of " + url, Text: text, ContentHash: hex.EncodeToString(sum[:]), Similarity: similarity(url),
			Sections: []*workv1.Section{{HeadingPath: []string{"Top"}, End: int32(len(text))}},
		}, Raw: []byte("raw")}}
	case bus.Analyze:
		text := task.GetAnalyze().GetText()
		if analysisFails(text) {
			return failure(task, fault.Permanent(fault.InvalidAnswer, "unreadable answer"))
		}
		result.Payload = &workv1.Result_Analyze{Analyze: &workv1.AnalyzeResult{Extractions: []*workv1.Extraction{{
			Claim: "claim of " + text, Quote: text, End: int32(len(text)), Url: task.GetAnalyze().GetUrl(), Relevance: 0.5,
		}}}}
	case bus.Report:
		result.Payload = &workv1.Result_Report{Report: &workv1.ReportResult{Markdown: "# Report\n"}}
	}
	return result
}

func texts(prefix string, n int32) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s.%d", prefix, i)
	}
	return out
}

func chance(what, text string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(what + " " + text))
	return int(h.Sum32() % 100)
}

func planFails(parent string) bool  { return parent != "q" && chance("plan", parent) < 5 }
func searchFails(query string) bool { return chance("search", query) < 10 }
func pageFails(url string) bool     { return chance("page", url) < 20 }
func analysisFails(text string) bool {
	return chance("analysis", text[max(0, strings.Index(text, "the text")):]) < 10
}

// hits are pages of a small web, so that queries share them.
func hits(query string) []string {
	n := chance("hits", query) % 8
	urls := make([]string, 0, n)
	seen := make(map[string]bool)
	for i := range n {
		url := fmt.Sprintf("https://Example.org/%d", chance(fmt.Sprint(i), query)%40)
		if !seen[url] {
			urls = append(urls, url)
			seen[url] = true
		}
	}
	return urls
}

// content makes some pages copies of one another, and some of those near-copies.
func content(url string) string {
	number := chance("content", url) % 25
	text := fmt.Sprintf("the text number %d", number)
	for i := range 120 {
		text += fmt.Sprintf(" word%d", chance("word", fmt.Sprint(number, i)))
	}
	if chance("print", url) < 30 {
		return fmt.Sprintf("Printed from page %d\n\n%s", chance("from", url), text)
	}
	return text
}

// similarity stands for the text's SimHash.
func similarity(url string) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, chance("content", url)%25)
	return h.Sum64() ^ 1<<(chance("print", url)%64)
}

func database(t testing.TB) string {
	t.Helper()
	return pgtest.Database(t, store.Migrate)
}
