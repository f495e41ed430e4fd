package fakemodel

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Script is a model that gives the answers which a test wrote, and then fails with
// 503. Each answer costs 10 tokens of prompt and 2 of completion. It is safe for
// concurrent use.
type Script struct {
	URL string
	// answer is what the n-th call (from 0) gets, by the name of the schema that it
	// asks for.
	answer func(n int, schema string) (string, bool)

	mu      sync.Mutex
	prompts []string
	calls   map[string]int
}

// StartScript gives the answers one after another.
func StartScript(t testing.TB, answers ...string) *Script {
	t.Helper()
	return startScript(t, func(n int, _ string) (string, bool) {
		if n >= len(answers) {
			return "", false
		}
		return answers[n], true
	})
}

// StartScriptBySchema gives each call the answer of the schema that it asks for.
func StartScriptBySchema(t testing.TB, answers map[string]string) *Script {
	t.Helper()
	return startScript(t, func(_ int, schema string) (string, bool) {
		answer, known := answers[schema]
		return answer, known
	})
}

func startScript(t testing.TB, answer func(int, string) (string, bool)) *Script {
	t.Helper()
	s := &Script{answer: answer, calls: make(map[string]int)}
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	s.URL = server.URL
	return s
}

// Prompts are the bodies of the requests so far.
func (s *Script) Prompts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.prompts...)
}

// Calls is how often a schema was asked for.
func (s *Script) Calls(schema string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[schema]
}

func (s *Script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var request chatRequest
	err = json.Unmarshal(body, &request)
	if err != nil {
		fail(w, http.StatusBadRequest, "a chat request is wanted")
		return
	}
	answer, known := s.next(string(body), request.ResponseFormat.JSONSchema.Name)
	if !known {
		fail(w, http.StatusServiceUnavailable, "the script has no more answers")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"model": request.Model, "usage": map[string]any{"prompt_tokens": 10, "completion_tokens": 2},
		"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": answer}}},
	})
}

func (s *Script) next(prompt, schema string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prompts = append(s.prompts, prompt)
	s.calls[schema]++
	return s.answer(len(s.prompts)-1, schema)
}
