package bus

import (
	"context"
	"errors"
	"time"
)

var errUnbuilt = errors.New("bus: not built yet")

type turns struct{}

func newTurns() *turns { return &turns{} }

// Limit is a rate limit that all pods share.
type Limit struct {
	// Key names what is limited, for instance "host:example.org" or "model:openai".
	Key string
	// Concurrent is the most holders at once; 0 is no bound.
	Concurrent int
	// Gap is the shortest time between the starts of two holders; 0 is none.
	Gap time.Duration
	// Hold is the longest a holder keeps its place when its process dies.
	Hold time.Duration
	// Wait is how long Take may wait for a place before it defers.
	Wait time.Duration
}

// Take waits up to limit.Wait for a place and returns the function that gives it
// back, which is safe to call twice. When there is none it returns a
// *fault.Deferral that says when to come again.
func (b *Bus) Take(ctx context.Context, limit Limit) (func(), error) {
	return nil, errUnbuilt
}

// Penalize lets nobody take a place of key before until: a Retry-After is obeyed by
// all pods.
func (b *Bus) Penalize(ctx context.Context, key string, until time.Time) error { return errUnbuilt }
