package openai

import (
	"net/http"
	"strings"
	"sync"

	"github.com/fathom-research/fathom/llm"
)

// format is how the shape of an answer is asked for.
type format int

const (
	formatSchema format = iota
	formatObject
	formatPlain
)

// dialect is what a model's server is known to take.
type dialect struct {
	format           format
	fixedTemperature bool
	newTokenName     bool
	systemless       bool
}

// after is the plainer form to try once the server refused this one with err; false
// when the refusal is not about the form.
func (d dialect) after(err error, request llm.Request) (dialect, bool) {
	status, refusal := statusOf(err)
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusNotImplemented:
	default:
		return d, false
	}
	complaint := strings.ToLower(complaintOf(refusal))
	switch {
	case tooLong(complaint):
		return d, false
	case !d.fixedTemperature && strings.Contains(complaint, "temperature"):
		d.fixedTemperature = true
	case request.MaxTokens > 0 && !d.newTokenName && strings.Contains(complaint, "max_completion_tokens"):
		d.newTokenName = true
	case request.MaxTokens > 0 && d.newTokenName && strings.Contains(complaint, "max_completion_tokens"):
		return d, false
	case !d.systemless && strings.Contains(complaint, "system") && strings.Contains(complaint, "role"):
		d.systemless = true
	case d.format < formatPlain:
		d.format++
	default:
		return d, false
	}
	return d, true
}

// memory keeps the dialect of each model that was asked.
type memory struct {
	mu    sync.Mutex
	known map[string]dialect
}

// of is what is known of the model's server; OpenAI's own has the newer name.
func (m *memory) of(model string, official bool) dialect {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.known[model]
	if !ok {
		return dialect{newTokenName: official}
	}
	return known
}

// keep remembers a form that the server took. The format is learned only from a
// request that had a schema: free text says nothing about it.
func (m *memory) keep(model string, form dialect, hadSchema bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !hadSchema {
		form.format = m.known[model].format
	}
	m.known[model] = form
}
