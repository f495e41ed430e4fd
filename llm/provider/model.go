package provider

import (
	"fmt"

	"github.com/fathom-research/fathom/llm"
	"github.com/fathom-research/fathom/platform/bus"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// Model is what a worker asks for its tasks: the configured model or, with the
// built-in engine, none. It is safe for concurrent use.
type Model struct {
	bus *bus.Bus
	// client is nil with the built-in engine.
	client Client
}

// OpenModel opens config's model for a worker on b. It does not talk to it yet.
func OpenModel(config llm.Config, b *bus.Bus) (*Model, error) {
	m := &Model{bus: b}
	if config.Builtin() {
		return m, nil
	}
	client, err := Open(config, b)
	if err != nil {
		return nil, fmt.Errorf("open the model: %w", err)
	}
	m.client = client
	return m, nil
}

// ForTask is a client that keeps to the task's journal and token limit. It is nil
// with the built-in engine.
func (m *Model) ForTask(task *workv1.Task) llm.Client {
	if m.client == nil {
		return nil
	}
	return llm.ForTask(m.client, m.bus.Journal(task.GetTaskId()), task.GetTokenLimit())
}

// Close ends the model's connections.
func (m *Model) Close() {
	if m.client != nil {
		m.client.Close()
	}
}
