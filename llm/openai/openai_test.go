package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fathom-research/fathom/llm"
	"github.com/fathom-research/fathom/llm/openai"
	"github.com/fathom-research/fathom/platform/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// body is what the tests look at in a request.
type body struct {
	Model     string `json:"model"`
	MaxTokens int    `json:"max_tokens"`
	MaxNew    int    `json:"max_completion_tokens"`
	Messages  []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
	Temperature    *float64 `json:"temperature"`
	ResponseFormat *struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Name   string         `json:"name"`
			Strict bool           `json:"strict"`
			Schema map[string]any `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

func (b body) format() string {
	if b.ResponseFormat == nil {
		return ""
	}
	return b.ResponseFormat.Type
}

// server is a model server that does what the test says with each request.
type server struct {
	mu   sync.Mutex
	seen []body
	auth string
}

func start(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, n int, b body), change func(*llm.Config)) (*server, *openai.Client) {
	t.Helper()
	s := &server{}
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var b body
		if json.Unmarshal(raw, &b) != nil {
			http.Error(w, "bad body", http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		n := len(s.seen)
		s.seen = append(s.seen, b)
		s.auth = r.Header.Get("Authorization")
		s.mu.Unlock()
		answer(w, r, n, b)
	}))
	cfg := llm.Config{BaseURL: listener.URL + "/v1", Model: "m", Timeout: 5 * time.Second, ContextTokens: 8192}
	if change != nil {
		change(&cfg)
	}
	client := openai.New(cfg)
	t.Cleanup(func() {
		client.Close()
		listener.CloseClientConnections()
		listener.Close()
	})
	return s, client
}

func say(w http.ResponseWriter, content, finish string) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": "1", "object": "chat.completion", "model": "m-2026",
		"choices": []any{map[string]any{"index": 0, "finish_reason": finish, "message": map[string]any{"role": "assistant", "content": content}}},
		"usage":   map[string]any{"prompt_tokens": 12, "completion_tokens": 3},
	})
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"message":%q,"type":"invalid_request_error","param":null,"code":null}}`, message)
}

var asked = llm.Request{
	Role: llm.Planner, System: "rules", User: "question", MaxTokens: 50,
	Schema: &llm.Schema{Name: "thing", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)},
}

func TestAsksForASchemaAndCountsTokens(t *testing.T) {
	t.Parallel()
	s, client := start(t, func(w http.ResponseWriter, _ *http.Request, _ int, _ body) { say(w, `{"a":"b"}`, "stop") },
		func(cfg *llm.Config) { cfg.APIKey, cfg.PlannerModel = "secret", "planning" })
	answer, err := client.Chat(t.Context(), asked)
	require.NoError(t, err)
	require.Equal(t, llm.Usage{Model: "m-2026", Calls: 1, InputTokens: 12, OutputTokens: 3}, answer.Usage)
	require.Equal(t, "Bearer secret", s.auth)
	sent := s.seen[0]
	require.Equal(t, "planning", sent.Model)
	require.Equal(t, "json_schema", sent.format())
	require.True(t, sent.ResponseFormat.JSONSchema.Strict)
	require.Equal(t, "object", sent.ResponseFormat.JSONSchema.Schema["type"])
	require.Equal(t, 50, sent.MaxTokens)
	require.Equal(t, "system", sent.Messages[0].Role)
}

func TestNoKeyIsSentWhenNoneIsSet(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "meant for another server")
	s, client := start(t, func(w http.ResponseWriter, _ *http.Request, _ int, _ body) { say(w, "x", "stop") }, nil)
	_, err := client.Chat(t.Context(), llm.Request{User: "hi"})
	require.NoError(t, err)
	require.Empty(t, s.auth)
}

func TestFallsBackStepByStepAndRemembers(t *testing.T) {
	t.Parallel()
	s, client := start(t, func(w http.ResponseWriter, _ *http.Request, _ int, b body) {
		if b.format() != "" {
			refuse(w, http.StatusBadRequest, "response_format is not supported")
			return
		}
		say(w, `{"a":"b"}`, "stop")
	}, nil)
	for range 2 {
		_, err := client.Chat(t.Context(), asked)
		require.NoError(t, err)
	}
	formats := make([]string, 0, len(s.seen))
	for _, sent := range s.seen {
		formats = append(formats, sent.format())
	}
	require.Equal(t, []string{"json_schema", "json_object", "", ""}, formats)
	require.Contains(t, s.seen[3].Messages[0].Content, `"properties"`)
}

func TestLearnsParametersThatAServerRefuses(t *testing.T) {
	t.Parallel()
	s, client := start(t, func(w http.ResponseWriter, _ *http.Request, _ int, b body) {
		switch {
		case b.Temperature != nil:
			refuse(w, http.StatusBadRequest, "Unsupported value: 'temperature' does not support 0 with this model.")
		case b.MaxTokens > 0:
			refuse(w, http.StatusBadRequest, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
		case b.Messages[0].Role == "system":
			refuse(w, http.StatusBadRequest, "System role not supported")
		default:
			say(w, "{}", "stop")
		}
	}, nil)
	_, err := client.Chat(t.Context(), asked)
	require.NoError(t, err)
	require.Len(t, s.seen, 4)
	last := s.seen[3]
	require.Equal(t, "json_schema", last.format(), "what was not at fault is kept")
	require.Equal(t, 50, last.MaxNew)
	require.Contains(t, last.Messages[0].Content, "rules")
	require.Contains(t, last.Messages[0].Content, "question")
	_, err = client.Chat(t.Context(), asked)
	require.NoError(t, err)
	require.Len(t, s.seen, 5)
}

func TestARefusalThatIsNotAboutTheFormIsNotRemembered(t *testing.T) {
	t.Parallel()
	s, client := start(t, func(w http.ResponseWriter, _ *http.Request, n int, _ body) {
		if n < 3 {
			refuse(w, http.StatusBadRequest, "something else")
			return
		}
		say(w, "{}", "stop")
	}, nil)
	_, err := client.Chat(t.Context(), asked)
	require.Equal(t, fault.Misconfigured, fault.As(err).Code)
	_, err = client.Chat(t.Context(), asked)
	require.NoError(t, err)
	require.Equal(t, "json_schema", s.seen[3].format())
}

func TestRetriesWhatPassesQuickly(t *testing.T) {
	t.Parallel()
	s, client := start(t, func(w http.ResponseWriter, _ *http.Request, n int, _ body) {
		if n == 0 {
			w.Header().Set("Retry-After-Ms", "5")
			refuse(w, http.StatusTooManyRequests, "slow down")
			return
		}
		say(w, "{}", "stop")
	}, func(cfg *llm.Config) { cfg.Retries = 2 })
	_, err := client.Chat(t.Context(), asked)
	require.NoError(t, err)
	require.Len(t, s.seen, 2)
}

func TestGivesALongRetryAfterBack(t *testing.T) {
	t.Parallel()
	s, client := start(t, func(w http.ResponseWriter, _ *http.Request, _ int, _ body) {
		w.Header().Set("Retry-After", "77")
		refuse(w, http.StatusTooManyRequests, "slow down")
	}, func(cfg *llm.Config) { cfg.Retries = 2 })
	_, err := client.Chat(t.Context(), asked)
	failure := fault.As(err)
	require.Equal(t, fault.RateLimited, failure.Code)
	require.True(t, failure.Retryable)
	require.Equal(t, 77*time.Second, failure.RetryAfter)
	require.Len(t, s.seen, 1)
}

func TestFailures(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		answer    func(w http.ResponseWriter)
		code      fault.Code
		retryable bool
	}{
		"500":           {func(w http.ResponseWriter) { refuse(w, 500, "oops") }, fault.Unavailable, true},
		"503":           {func(w http.ResponseWriter) { refuse(w, 503, "loading") }, fault.Unavailable, true},
		"504":           {func(w http.ResponseWriter) { refuse(w, 504, "late") }, fault.TimedOut, true},
		"401":           {func(w http.ResponseWriter) { refuse(w, 401, "bad key") }, fault.Misconfigured, false},
		"404":           {func(w http.ResponseWriter) { refuse(w, 404, "no model") }, fault.Misconfigured, false},
		"413":           {func(w http.ResponseWriter) { refuse(w, 413, "big") }, fault.TooLarge, false},
		"context":       {func(w http.ResponseWriter) { refuse(w, 400, "This model's maximum context length is 8192 tokens") }, fault.TooLarge, false},
		"no JSON error": {func(w http.ResponseWriter) { http.Error(w, "bad gateway", http.StatusBadGateway) }, fault.Unavailable, true},
		"broken body": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"id":"1","choices":[{"mess`)
		}, fault.Unavailable, true},
		"no choice": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"id":"1","choices":[]}`)
		}, fault.Unavailable, true},
		"refusal": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":null,"refusal":"I won't"}}]}`)
		}, fault.InvalidAnswer, true},
		"filtered": {func(w http.ResponseWriter) { say(w, "", "content_filter") }, fault.InvalidAnswer, true},
		"quota": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(w, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`)
		}, fault.RateLimited, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, client := start(t, func(w http.ResponseWriter, _ *http.Request, _ int, _ body) { c.answer(w) }, nil)
			_, err := client.Chat(t.Context(), asked)
			failure := fault.As(err)
			require.Equal(t, c.code, failure.Code, "%v", err)
			require.Equal(t, c.retryable, failure.Retryable)
		})
	}
}

func TestAHangingServerTimesOut(t *testing.T) {
	t.Parallel()
	_, client := start(t, func(_ http.ResponseWriter, r *http.Request, _ int, _ body) { <-r.Context().Done() },
		func(cfg *llm.Config) { cfg.Timeout = 50 * time.Millisecond })
	_, err := client.Chat(t.Context(), asked)
	require.Equal(t, fault.TimedOut, fault.As(err).Code)
	require.ErrorContains(t, err, "FATHOM_LLM_TIMEOUT")
}

func TestTheCallersEndIsNotTheServersFault(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	_, client := start(t, func(_ http.ResponseWriter, r *http.Request, _ int, _ body) {
		cancel()
		<-r.Context().Done()
	}, nil)
	_, err := client.Chat(ctx, asked)
	require.ErrorIs(t, err, context.Canceled)
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	client := openai.New(llm.Config{BaseURL: "http://127.0.0.1:1/v1", Model: "m", Timeout: time.Second})
	defer client.Close()
	_, err := client.Chat(t.Context(), asked)
	require.Equal(t, fault.Unavailable, fault.As(err).Code)
}

func TestALengthFinishIsTruncated(t *testing.T) {
	t.Parallel()
	_, client := start(t, func(w http.ResponseWriter, _ *http.Request, _ int, _ body) { say(w, `{"a":"b`, "length") }, nil)
	answer, err := client.Chat(t.Context(), asked)
	require.NoError(t, err)
	require.True(t, answer.Truncated)
}
