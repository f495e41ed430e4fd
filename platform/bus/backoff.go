package bus

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff waits longer each time.
type backoff struct {
	first, most, next time.Duration
}

func newBackoff(first, most time.Duration) *backoff {
	return &backoff{first: first, most: most, next: first}
}

func (b *backoff) reset() { b.next = b.first }

// wait returns false when ctx ended.
func (b *backoff) wait(ctx context.Context) bool { return sleep(ctx, b.step()) }

// step is how long to wait now.
func (b *backoff) step() time.Duration {
	d := b.next/2 + rand.N(b.next/2+1)
	b.next = min(2*b.next, b.most)
	return d
}

// sleep returns false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
