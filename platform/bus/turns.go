package bus

import (
	"context"
	"errors"
	"sync"
	"time"
)

// turns lets the takers of one limit within a process look for a place one after the
// other, so that they do not fight for the same key of the bucket.
type turns struct {
	mu    sync.Mutex
	byKey map[string]*turn
}

type turn struct {
	takers int
	head   chan struct{}
	freed  chan struct{}
}

// errNoTurn: those before did not find a place in time.
var errNoTurn = errors.New("no turn before the deadline")

// shortestQueue lets a taker that must not wait for a place wait for those that are
// just taking one.
const shortestQueue = 100 * time.Millisecond

func newTurns() *turns { return &turns{byKey: make(map[string]*turn)} }

// enter waits until it is the caller's turn and returns what ends the turn.
func (t *turns) enter(ctx context.Context, key string, deadline time.Time) (*turn, func(), error) {
	mine := t.join(key)
	timer := time.NewTimer(max(shortestQueue, time.Until(deadline)))
	defer timer.Stop()
	select {
	case mine.head <- struct{}{}:
		return mine, func() {
			<-mine.head
			t.leave(key, mine)
		}, nil
	case <-timer.C:
		t.leave(key, mine)
		return nil, nil, errNoTurn
	case <-ctx.Done():
		t.leave(key, mine)
		return nil, nil, context.Cause(ctx)
	}
}

func (t *turns) join(key string) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := t.byKey[key]
	if mine == nil {
		mine = &turn{head: make(chan struct{}, 1), freed: make(chan struct{}, 1)}
		t.byKey[key] = mine
	}
	mine.takers++
	return mine
}

func (t *turns) leave(key string, mine *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine.takers--
	if mine.takers == 0 {
		delete(t.byKey, key)
	}
}

// wake tells the one whose turn it is that a place is free again.
func (t *turns) wake(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	waiting := t.byKey[key]
	if waiting == nil {
		return
	}
	select {
	case waiting.freed <- struct{}{}:
	default:
	}
}

// wait ends with a wake, the next look, or ctx.
func (t *turn) wait(ctx context.Context, next time.Duration) {
	timer := time.NewTimer(next)
	defer timer.Stop()
	select {
	case <-t.freed:
	case <-timer.C:
	case <-ctx.Done():
	}
}
