// Package fakemodel is a small OpenAI-compatible server for tests and benchmarks.
// It fills the JSON schema it is asked for with text lifted from the prompt, waits
// as long as a model would, fails on demand, and remembers every call, so that a
// test can tell what was paid for twice.
package fakemodel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Options shape the server; the zero value answers at once and never fails.
type Options struct {
	// Latency is how long an answer takes.
	Latency time.Duration
	// Fault decides whether the n-th call (from 0) fails instead of being answered.
	Fault func(n int) Fault
}

// Fault is a way for a call to fail.
type Fault int

// The faults.
const (
	None        Fault = iota
	RateLimited       // 429 with Retry-After: 1
	ServerError       // 500
	Truncated         // an answer that breaks off in the middle of its JSON
	Hang              // no answer until the caller leaves
)

// Call is one request that the server got.
type Call struct {
	// Key is the hash of the whole request: equal keys ask for the same thing.
	Key    string
	Schema string
	Began  time.Time
	Ended  time.Time
	// Answered is false for a fault and for a caller that left.
	Answered bool
}

// Server is the fake model. It is safe for concurrent use.
type Server struct {
	URL  string
	opts Options

	mu       sync.Mutex
	calls    []Call
	inFlight int
	down     bool
}

// Start starts a server that ends with the test. Its URL is the base URL of an
// OpenAI client.
func Start(t testing.TB, opts Options) *Server {
	t.Helper()
	server := &Server{opts: opts}
	listener := httptest.NewServer(server)
	t.Cleanup(func() {
		listener.CloseClientConnections()
		listener.Close()
	})
	server.URL = listener.URL + "/v1"
	return server
}

// SetDown makes every call fail with 503 until it is set back.
func (s *Server) SetDown(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// Calls returns what was asked so far, in order of arrival.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// InFlight is how many calls are being answered now.
func (s *Server) InFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inFlight
}

// Paid counts the calls that were answered, and those of them that had been
// answered before.
func (s *Server) Paid() (int, int) {
	answered := 0
	for _, call := range s.Calls() {
		if call.Answered {
			answered++
		}
	}
	return answered, s.Repeated()
}

// Repeated counts the answers that were given more than once for the same request:
// what was paid twice.
func (s *Server) Repeated() int {
	answered := make(map[string]int)
	for _, call := range s.Calls() {
		if call.Answered {
			answered[call.Key]++
		}
	}
	repeated := 0
	for _, n := range answered {
		repeated += n - 1
	}
	return repeated
}

type chatRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	ResponseFormat struct {
		JSONSchema struct {
			Name   string `json:"name"`
			Schema schema `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var request chatRequest
	err = json.Unmarshal(body, &request)
	if err != nil || len(request.Messages) == 0 {
		fail(w, http.StatusBadRequest, "a chat request with messages is wanted")
		return
	}
	n, down := s.begin(body, request.ResponseFormat.JSONSchema.Name)
	answered := s.answer(w, r, &request, n, down)
	s.end(n, answered)
}

func (s *Server) begin(body []byte, schemaName string) (int, bool) {
	sum := sha256.Sum256(body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight++
	s.calls = append(s.calls, Call{Key: hex.EncodeToString(sum[:]), Schema: schemaName, Began: time.Now()})
	return len(s.calls) - 1, s.down
}

func (s *Server) end(n int, answered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight--
	s.calls[n].Ended = time.Now()
	s.calls[n].Answered = answered
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, request *chatRequest, n int, down bool) bool {
	if down {
		fail(w, http.StatusServiceUnavailable, "the model is down")
		return false
	}
	fault := None
	if s.opts.Fault != nil {
		fault = s.opts.Fault(n)
	}
	switch fault {
	case RateLimited:
		w.Header().Set("Retry-After", "1")
		fail(w, http.StatusTooManyRequests, "too many requests")
		return false
	case ServerError:
		fail(w, http.StatusInternalServerError, "something broke")
		return false
	case Hang:
		<-r.Context().Done()
		return false
	case None, Truncated:
	}
	if !wait(r.Context(), s.opts.Latency) {
		return false
	}
	prompt := ""
	for _, message := range request.Messages {
		prompt += plain(message.Content) + "\n"
	}
	content := newWriter(prompt).fill(request.ResponseFormat.JSONSchema.Schema)
	if fault == Truncated {
		content = content[:len(content)*2/3]
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": fmt.Sprintf("chatcmpl-%d", n), "object": "chat.completion", "created": time.Now().Unix(), "model": request.Model,
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop",
			"message": map[string]any{"role": "assistant", "content": content},
		}},
		"usage": map[string]any{
			"prompt_tokens": len(prompt) / 4, "completion_tokens": len(content) / 4, "total_tokens": (len(prompt) + len(content)) / 4,
		},
	})
	return r.Context().Err() == nil && fault == None
}

func wait(ctx context.Context, latency time.Duration) bool {
	timer := time.NewTimer(latency)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func fail(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": "fake"}})
}

// plain is a message's text, which clients send as a string or as parts.
func plain(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	for _, part := range parts {
		text += part.Text
	}
	return text
}
