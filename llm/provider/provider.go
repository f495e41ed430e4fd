// Package provider makes the model client that a configuration asks for, with its
// telemetry and the limit that all pods share.
package provider

import (
	"context"
	"fmt"
	"time"

	"github.com/fathom-research/fathom/llm"
	"github.com/fathom-research/fathom/llm/openai"
	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
)

// Client is an llm.Client that holds connections.
type Client interface {
	llm.Client
	Close()
}

// limitWait is how long a call waits for a place before its task is deferred.
const limitWait = 20 * time.Second

// Open makes the client of config's provider. shared is where pods agree on their
// limit; without it there is none. The builtin engine has no client: callers ask
// config.Builtin first.
func Open(config llm.Config, shared *bus.Bus) (Client, error) {
	if config.Builtin() {
		return nil, fault.Permanent(fault.Misconfigured, "the built-in engine has no model to ask")
	}
	server := openai.New(config)
	client, err := llm.Observed(server, config)
	if err != nil {
		return nil, fmt.Errorf("watch the model client: %w", err)
	}
	if shared != nil {
		client = llm.Limited(client, gate{bus: shared, limit: bus.Limit{
			Key: config.LimitKey(), Concurrent: config.Concurrent,
			Hold: config.Timeout*time.Duration(config.Retries+1) + time.Minute, Wait: limitWait,
		}})
	}
	return opened{Client: client, server: server}, nil
}

type opened struct {
	llm.Client
	server *openai.Client
}

func (o opened) Close() { o.server.Close() }

// gate is an llm.Gate over the bus.
type gate struct {
	bus   *bus.Bus
	limit bus.Limit
}

func (g gate) Take(ctx context.Context) (func(), error) {
	release, err := g.bus.Take(ctx, g.limit)
	if err != nil {
		return nil, fmt.Errorf("take a place for a model call: %w", err)
	}
	return release, nil
}

func (g gate) Close(ctx context.Context, until time.Time) error {
	err := g.bus.Penalize(ctx, g.limit.Key, until)
	if err != nil {
		return fmt.Errorf("tell all pods to wait for the model: %w", err)
	}
	return nil
}
