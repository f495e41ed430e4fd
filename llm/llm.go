// Package llm talks to language models behind one Client, and knows how to get an
// answer of a given shape out of them.
package llm

import (
	"context"
	"encoding/json"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// Role says what a call is for; a model can be configured for each.
type Role string

// The roles.
const (
	Planner  Role = "planner"
	Analyzer Role = "analyzer"
	Reporter Role = "reporter"
)

// Request is one call.
type Request struct {
	Role Role
	// System and User are the prompt's two parts.
	System string
	User   string
	// Schema is the JSON schema of the answer; nil asks for free text.
	Schema *Schema
	// MaxTokens bounds the answer; 0 is the provider's own bound.
	MaxTokens   int
	Temperature float64
}

// Schema is a named JSON schema.
type Schema struct {
	Name   string
	Schema json.RawMessage
}

// Answer is what a model said.
type Answer struct {
	Text  string
	Usage Usage
	// Truncated says that the model stopped since its bound was reached.
	Truncated bool

	// entry is where a journalled client keeps the answer.
	entry string
}

// Usage counts what was paid for, and what was not since the journal had it.
type Usage struct {
	Model           string
	Calls           int
	JournalledCalls int
	InputTokens     int64
	OutputTokens    int64
}

// Add sums two usages; the model is the later one.
func (u Usage) Add(other Usage) Usage {
	if other.Model != "" {
		u.Model = other.Model
	}
	u.Calls += other.Calls
	u.JournalledCalls += other.JournalledCalls
	u.InputTokens += other.InputTokens
	u.OutputTokens += other.OutputTokens
	return u
}

// Proto is the usage as a result carries it.
func (u Usage) Proto() *workv1.Usage {
	return &workv1.Usage{
		Model:           u.Model,
		ModelCalls:      int32(u.Calls),
		JournalledCalls: int32(u.JournalledCalls),
		InputTokens:     u.InputTokens,
		OutputTokens:    u.OutputTokens,
	}
}

// Client is a model provider. Chat's errors are *fault.Error (rate_limited,
// unavailable, timed_out, misconfigured, invalid_answer …) or *fault.Deferral.
// It is safe for concurrent use.
type Client interface {
	Chat(ctx context.Context, request Request) (*Answer, error)
}

// Journal remembers answers across the death of a process; bus.Journal is one.
type Journal interface {
	Get(ctx context.Context, key string) (value []byte, found bool, err error)
	Put(ctx context.Context, key string, value []byte) error
}
