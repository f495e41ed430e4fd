package llm_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/llm"
	"github.com/fathom-research/fathom/platform/fault"
)

// memory is a journal that outlives the clients of a test.
type memory struct {
	mu      sync.Mutex
	entries map[string][]byte
}

func newMemory() *memory { return &memory{entries: make(map[string][]byte)} }

func (m *memory) Get(_ context.Context, key string) ([]byte, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, found := m.entries[key]
	return value, found, nil
}

func (m *memory) Put(_ context.Context, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries[key] = value
	return nil
}

// model answers with its script, one after another, and remembers what it was asked.
type model struct {
	mu      sync.Mutex
	answers []string
	asked   []llm.Request
}

var errSilent = errors.New("the script is over")

func (m *model) Chat(_ context.Context, request llm.Request) (*llm.Answer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, request)
	if len(m.asked) > len(m.answers) {
		return nil, errSilent
	}
	return &llm.Answer{Text: m.answers[len(m.asked)-1], Usage: llm.Usage{Model: "m", Calls: 1, InputTokens: 100, OutputTokens: 10}}, nil
}

type list struct {
	Items []string `json:"items"`
}

var listSchema = &llm.Schema{Name: "list", Schema: []byte(`{"type":"object","properties":{"items":{"type":"array","items":{"type":"string"}}}}`)}

func atLeastTwo(l *list) error {
	if len(l.Items) < 2 {
		return fmt.Errorf("%d items are too few", len(l.Items))
	}
	return nil
}

func TestStructuredTellsTheModelWhatIsWrong(t *testing.T) {
	t.Parallel()
	server := &model{answers: []string{"no JSON", `{"items":["a"]}`, `["a","b"]`}}
	got, usage, err := llm.Structured(t.Context(), server, llm.Request{User: "list", Schema: listSchema}, atLeastTwo)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, got.Items)
	require.Equal(t, 3, usage.Calls)
	require.Equal(t, int64(300), usage.InputTokens)
	require.Contains(t, server.asked[1].User, "no JSON")
	require.Contains(t, server.asked[2].User, "1 items are too few")
}

func TestStructuredGivesUpAfterThreeAsks(t *testing.T) {
	t.Parallel()
	server := &model{answers: []string{"{}", "{}", "{}", `{"items":["a","b"]}`}}
	_, usage, err := llm.Structured(t.Context(), server, llm.Request{Schema: listSchema}, atLeastTwo)
	var failure *fault.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, fault.InvalidAnswer, failure.Code)
	require.True(t, failure.Retryable)
	require.Equal(t, 3, usage.Calls)
}

func TestARedeliveredTaskPaysNothingTwice(t *testing.T) {
	t.Parallel()
	journal := newMemory()
	request := llm.Request{User: "list", Schema: listSchema}
	server := &model{answers: []string{"{}", `{"items":["a","b"]}`, "free text"}}
	first := llm.Journalled(server, journal)
	_, _, err := llm.Structured(t.Context(), first, request, atLeastTwo)
	require.NoError(t, err)

	second := llm.Journalled(server, journal)
	got, usage, err := llm.Structured(t.Context(), second, request, atLeastTwo)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, got.Items)
	require.Equal(t, llm.Usage{Model: "m", JournalledCalls: 2}, usage)
	require.Len(t, server.asked, 2)

	answer, err := second.Chat(t.Context(), llm.Request{User: "more"})
	require.NoError(t, err)
	require.Equal(t, "free text", answer.Text)
	require.Equal(t, 1, answer.Usage.Calls)
}

func TestAnotherTryAsksAnewForWhatWasRefusedForGood(t *testing.T) {
	t.Parallel()
	journal := newMemory()
	server := &model{answers: []string{"good", "{}", "{}", "{}", `{"items":["a","b"]}`}}
	work := func() (list, llm.Usage, error) {
		client := llm.Journalled(server, journal)
		_, err := client.Chat(t.Context(), llm.Request{User: "before"})
		require.NoError(t, err)
		return llm.Structured(t.Context(), client, llm.Request{User: "list", Schema: listSchema}, atLeastTwo)
	}
	_, _, err := work()
	require.Error(t, err)

	got, usage, err := work()
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, got.Items)
	require.Equal(t, 1, usage.Calls)
	require.Len(t, server.asked, 5, "the good answer is read, only the refused one is asked for again")

	_, usage, err = work()
	require.NoError(t, err)
	require.Equal(t, 0, usage.Calls)
	require.Len(t, server.asked, 5)
}

func TestForksHaveTheirOwnOrder(t *testing.T) {
	t.Parallel()
	journal := newMemory()
	server := &model{answers: []string{"one", "two"}}
	run := func(order ...string) map[string]string {
		client := llm.Journalled(server, journal)
		said := make(map[string]string)
		for _, part := range order {
			answer, err := llm.Fork(client, part).Chat(t.Context(), llm.Request{User: "same"})
			require.NoError(t, err)
			said[part] = answer.Text
		}
		return said
	}
	require.Equal(t, run("a", "b"), run("b", "a"))
	require.Len(t, server.asked, 2)
}

func TestAnAnswerThatCantBeJournalledIsNotUsed(t *testing.T) {
	t.Parallel()
	client := llm.Journalled(&model{answers: []string{"lost"}}, broken{})
	_, err := client.Chat(t.Context(), llm.Request{})
	require.Equal(t, fault.Unavailable, fault.As(err).Code)
}

type broken struct{}

func (broken) Get(context.Context, string) ([]byte, bool, error) { return nil, false, nil }
func (broken) Put(context.Context, string, []byte) error         { return errSilent }

func TestTheTokenLimitOfATaskHolds(t *testing.T) {
	t.Parallel()
	journal := newMemory()
	server := &model{answers: []string{"one", "two", "three"}}
	client := llm.ForTask(server, journal, 480)
	_, err := client.Chat(t.Context(), llm.Request{User: "a"})
	require.NoError(t, err)
	require.Positive(t, server.asked[0].MaxTokens)
	require.Less(t, server.asked[0].MaxTokens, 480)
	_, err = client.Chat(t.Context(), llm.Request{User: "b"})
	require.NoError(t, err)
	require.Less(t, server.asked[1].MaxTokens, server.asked[0].MaxTokens)
	_, err = client.Chat(t.Context(), llm.Request{User: "c"})
	require.Equal(t, fault.OverBudget, fault.As(err).Code)

	t.Run("also over a crash", func(t *testing.T) {
		t.Parallel()
		again := llm.ForTask(server, journal, 480)
		for _, user := range []string{"a", "b"} {
			_, err := again.Chat(t.Context(), llm.Request{User: user})
			require.NoError(t, err)
		}
		_, err := again.Chat(t.Context(), llm.Request{User: "c"})
		require.Equal(t, fault.OverBudget, fault.As(err).Code)
	})
}
