package state

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// announcer tells watchers that a research has news, off the path of results. Many
// announcements of one research become one; all are only wake-ups, so one that
// fails is dropped.
type announcer struct {
	announce func(ctx context.Context, researchID string) error
	logger   *slog.Logger

	mutex   sync.Mutex
	pending map[string]bool
	wake    chan struct{}
}

func newAnnouncer(announce func(ctx context.Context, researchID string) error, logger *slog.Logger) *announcer {
	return &announcer{announce: announce, logger: logger, pending: make(map[string]bool), wake: make(chan struct{}, 1)}
}

// tell asks for an announcement and does not wait for it.
func (a *announcer) tell(researchID string) {
	a.mutex.Lock()
	a.pending[researchID] = true
	a.mutex.Unlock()
	nudge(a.wake)
}

func (a *announcer) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-a.wake:
		}
		a.mutex.Lock()
		batch := a.pending
		a.pending = make(map[string]bool)
		a.mutex.Unlock()
		for researchID := range batch {
			a.send(ctx, researchID)
		}
	}
}

func (a *announcer) send(ctx context.Context, researchID string) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	err := a.announce(ctx, researchID)
	if err != nil {
		a.logger.DebugContext(ctx, "announcement lost", "research_id", researchID, "error", err)
	}
}

// nudge wakes the receiver of a channel that holds one.
func nudge(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}
