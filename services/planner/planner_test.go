package planner_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/fathom-research/fathom/llm/lexis"
	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/config"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/planner"
	"github.com/fathom-research/fathom/testkit/bustest"
	"github.com/fathom-research/fathom/testkit/fakemodel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// setup makes a planner that asks the model at url, or the built-in engine.
func setup(t *testing.T, url string, more ...string) (*planner.Service, *bus.Bus) {
	t.Helper()
	environment := map[string]string{"FATHOM_LLM_RETRIES": "0"}
	if url != "" {
		environment["FATHOM_LLM_BASE_URL"], environment["FATHOM_LLM_MODEL"] = url, "m"
	}
	for _, setting := range more {
		name, value, _ := strings.Cut(setting, "=")
		environment[name] = value
	}
	var cfg planner.Config
	require.NoError(t, config.LoadFrom(&cfg, environment))
	b := bustest.Open(t)
	service, err := planner.New(cfg, planner.Deps{Bus: b, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return service, b
}

func questionsTask(id string, n int32) *workv1.Task {
	return &workv1.Task{
		ResearchId: "r", TaskId: id, TimeLimit: durationpb.New(time.Minute),
		Payload: &workv1.Task_Questions{Questions: &workv1.QuestionsTask{Prompt: "How do cities cut traffic deaths?", N: n}},
	}
}

func queriesTask(n int32, taken ...string) *workv1.Task {
	return &workv1.Task{
		ResearchId: "r", TaskId: "q", TimeLimit: durationpb.New(time.Minute),
		Payload: &workv1.Task_Queries{Queries: &workv1.QueriesTask{
			Prompt: "How do cities cut traffic deaths, and what did Oslo and Helsinki do differently?", N: n, Taken: taken,
			Chain: []*workv1.ChainLink{{
				Query: "Oslo zero traffic deaths", Objective: "What Oslo did.",
				Extractions: []*workv1.Extraction{{Claim: "Oslo removed 700 parking spaces by 2019.", Url: "https://example.org/oslo", Relevance: 0.9}},
			}},
		}},
	}
}

func TestServesBothKindsFromTheBus(t *testing.T) {
	t.Parallel()
	service, b := setup(t, fakemodel.Start(t, fakemodel.Options{}).URL)
	results := bustest.Serve(t, b, service.Run)
	require.NoError(t, b.PublishTask(t.Context(), questionsTask("a", 4)))
	require.NoError(t, b.PublishTask(t.Context(), queriesTask(5)))
	for range 2 {
		result := bustest.Await(t, results)
		require.Nil(t, result.GetFailure())
		require.Positive(t, result.GetUsage().GetModelCalls())
		if result.GetKind() == string(bus.Questions) {
			require.Len(t, result.GetQuestions().GetQuestions(), 4)
		} else {
			require.Len(t, result.GetQueries().GetQueries(), 5)
		}
	}
}

func TestAsksForWhatIsMissingAndCutsWhatIsTooMuch(t *testing.T) {
	t.Parallel()
	script := fakemodel.StartScript(t,
		`{"questions": ["Which cities matter to you?", "Which cities matter to you", " - Which years should be covered? "]}`,
		`{"questions": ["Do cyclists count too?", "Is cost of interest?", "One too many?"]}`)
	service, _ := setup(t, script.URL)
	result, err := service.Handle(t.Context(), questionsTask("a", 4))
	require.NoError(t, err)
	require.Equal(t, []string{"Which cities matter to you?", "Which years should be covered?", "Do cyclists count too?", "Is cost of interest?"},
		result.GetQuestions().GetQuestions())
	require.Equal(t, int32(2), result.GetUsage().GetModelCalls())
	require.Equal(t, int64(20), result.GetUsage().GetInputTokens())
	require.Contains(t, script.Prompts()[1], "Ask exactly 2 questions")
	require.Contains(t, script.Prompts()[1], "Which years should be covered?")
}

func TestReplacesDoublesOfSiblingsAncestorsAndTakenQueries(t *testing.T) {
	t.Parallel()
	script := fakemodel.StartScript(t,
		`{"queries": [
			{"query": "traffic deaths zero Oslo", "objective": "doubles its ancestor"},
			{"query": "Helsinki speed limits 30 km/h", "objective": "doubles a taken one"},
			{"query": "Oslo parking removal 2019", "objective": "is new"},
			{"query": "removal of parking in Oslo 2019", "objective": "doubles its sibling"},
			{"query": "no objective", "objective": ""}]}`,
		`{"queries": [{"query": "Oslo parking removal retail effect", "objective": "is new too"}, {"query": "Oslo cycling lanes budget", "objective": "is the third"}]}`)
	service, _ := setup(t, script.URL)
	result, err := service.Handle(t.Context(), queriesTask(3, "Helsinki 30 km/h speed limit"))
	require.NoError(t, err)
	var texts []string
	for _, query := range result.GetQueries().GetQueries() {
		texts = append(texts, query.GetText())
		require.NotEmpty(t, query.GetObjective())
	}
	require.Equal(t, []string{"Oslo parking removal 2019", "Oslo parking removal retail effect", "Oslo cycling lanes budget"}, texts)
	require.Contains(t, script.Prompts()[1], "Plan exactly 2 queries")
	require.Contains(t, script.Prompts()[1], "traffic deaths zero Oslo")
}

func TestTheBuiltinEngineAddsWhatAModelDoesNotGive(t *testing.T) {
	t.Parallel()
	same := `{"queries": [{"query": "Oslo cycling", "objective": "x"}]}`
	for name, answers := range map[string][]string{
		"always the same": {same, same, same},
		"never JSON":      {"I would rather not.", "No.", "{"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := fakemodel.StartScript(t, answers...)
			service, _ := setup(t, script.URL)
			result, err := service.Handle(t.Context(), queriesTask(4))
			require.NoError(t, err)
			requireDistinct(t, result.GetQueries().GetQueries(), 4)
		})
	}
}

func TestABrokenModelIsTheTasksFailure(t *testing.T) {
	t.Parallel()
	script := fakemodel.StartScript(t)
	service, _ := setup(t, script.URL)
	_, err := service.Handle(t.Context(), queriesTask(4))
	failure := fault.As(err)
	require.Equal(t, fault.Unavailable, failure.Code)
	require.True(t, failure.Retryable)
}

func TestARepeatedTaskIsNotPaidTwice(t *testing.T) {
	t.Parallel()
	script := fakemodel.StartScript(t, `{"questions": ["Which cities?", "Which years?"]}`)
	service, _ := setup(t, script.URL)
	first, err := service.Handle(t.Context(), questionsTask("a", 2))
	require.NoError(t, err)
	second, err := service.Handle(t.Context(), questionsTask("a", 2))
	require.NoError(t, err)
	require.Equal(t, first.GetQuestions().GetQuestions(), second.GetQuestions().GetQuestions())
	require.Equal(t, int32(1), second.GetUsage().GetJournalledCalls())
	require.Zero(t, second.GetUsage().GetModelCalls())
	require.Len(t, script.Prompts(), 1)
}

func TestTheBuiltinEnginePlansAlone(t *testing.T) {
	t.Parallel()
	service, _ := setup(t, "")
	for _, n := range []int32{1, 3, 12} {
		result, err := service.Handle(t.Context(), questionsTask("a", n))
		require.NoError(t, err)
		require.Len(t, result.GetQuestions().GetQuestions(), int(n))
		result, err = service.Handle(t.Context(), queriesTask(n))
		require.NoError(t, err)
		requireDistinct(t, result.GetQueries().GetQueries(), int(n))
	}
}

func TestRefusesOtherKinds(t *testing.T) {
	t.Parallel()
	service, _ := setup(t, "")
	_, err := service.Handle(t.Context(), &workv1.Task{Payload: &workv1.Task_Search{}})
	require.Equal(t, fault.Malformed, fault.As(err).Code)
}

func TestConfigNamesItsMistakes(t *testing.T) {
	t.Parallel()
	var cfg planner.Config
	err := config.LoadFrom(&cfg, map[string]string{
		"FATHOM_PLANNER_KINDS": "search", "FATHOM_PLANNER_CONCURRENCY": "-1", "FATHOM_LLM_TIMEOUT": "-1s",
	})
	require.ErrorContains(t, err, "FATHOM_PLANNER_KINDS")
	require.ErrorContains(t, err, "FATHOM_PLANNER_CONCURRENCY")
	require.ErrorContains(t, err, "FATHOM_LLM_TIMEOUT")
}

func requireDistinct(t *testing.T, queries []*workv1.PlannedQuery, n int) {
	t.Helper()
	require.Len(t, queries, n)
	for i, query := range queries {
		require.NotEmpty(t, query.GetText())
		require.NotEmpty(t, query.GetObjective())
		for _, other := range queries[:i] {
			require.False(t, lexis.NewAsk(query.GetText()).Equal(lexis.NewAsk(other.GetText())), "%q twice", query.GetText())
		}
	}
}
