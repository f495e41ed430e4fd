package bus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/fathom-research/fathom/platform/fault"
)

// Limit is a rate limit that all pods share. Its times are compared by the clocks of
// the pods: Gap and Hold are off by at most the difference between two of them.
type Limit struct {
	// Key names what is limited, for instance "host:example.org" or "model:openai".
	Key string
	// Concurrent is the most holders at once; 0 is no bound.
	Concurrent int
	// Gap is the shortest time between the starts of two holders; 0 is none.
	Gap time.Duration
	// Hold is the longest a holder keeps its place when its process dies; 5 min when
	// zero. One that takes longer loses its place while it goes on.
	Hold time.Duration
	// Wait is how long Take may wait for a place before it defers.
	Wait time.Duration
}

const (
	defaultHold = 5 * time.Minute
	// A place that another process gives back is seen at the next look.
	firstLook = 5 * time.Millisecond
	lastLook  = 100 * time.Millisecond
	// awayPause is when to come again while TOKENS can't be asked.
	awayPause = time.Second
	// askTimeout bounds a question to TOKENS even when a taker must not wait.
	askTimeout = 2 * time.Second
)

// Take waits up to limit.Wait for a place and returns the function that gives it
// back, which is safe to call twice. When there is none it returns a
// *fault.Deferral that says when to come again; also when NATS is out of reach,
// since no try was made then either.
func (b *Bus) Take(ctx context.Context, limit Limit) (func(), error) {
	deadline := time.Now().Add(limit.Wait)
	for {
		taken, err := b.reserve(ctx, limit, deadline)
		if err != nil {
			return nil, err
		}
		release := sync.OnceFunc(func() { b.release(ctx, limit.Key, taken) })
		valid, err := b.awaitStart(ctx, limit.Key, taken)
		if err != nil {
			release()
			return nil, err
		}
		if valid {
			return release, nil
		}
		release()
	}
}

// Penalize lets nobody take a place of key before until: a Retry-After is obeyed by
// all pods. It lasts a day at most.
func (b *Bus) Penalize(ctx context.Context, key string, until time.Time) error {
	err := b.change(ctx, key, func(t *tally) {
		t.Barred = latest(t.Barred, until)
	})
	if err != nil {
		return fmt.Errorf("penalize %s: %w", key, err)
	}
	return nil
}

// reserve finds a place whose start is not after the deadline. Within a process one
// at a time looks, in order of arrival.
func (b *Bus) reserve(ctx context.Context, limit Limit, deadline time.Time) (place, error) {
	turn, leave, err := b.turns.enter(ctx, limit.Key, deadline)
	switch {
	case errors.Is(err, errNoTurn):
		return place{}, b.deferral(ctx, limit)
	case err != nil:
		return place{}, err
	}
	defer leave()

	look := newBackoff(firstLook, lastLook)
	asking, cancel := context.WithDeadline(ctx, latest(deadline, time.Now().Add(askTimeout)))
	defer cancel()
	for {
		taken, err := b.tryReserve(asking, limit, deadline)
		switch {
		case err == nil:
			return taken, nil
		case ctx.Err() != nil:
			return place{}, context.Cause(ctx)
		case errors.Is(err, errTooLate):
			return place{}, b.deferral(ctx, limit)
		case isConflict(err) && asking.Err() == nil:
			continue
		case !errors.Is(err, errFull):
			b.log.WarnContext(ctx, "rate limit out of reach", "limit", limit.Key, "error", err)
		}
		if !time.Now().Before(deadline) {
			return place{}, b.deferral(ctx, limit)
		}
		turn.wait(ctx, min(look.step(), time.Until(deadline)))
	}
}

var (
	errFull    = errors.New("every place is taken")
	errTooLate = errors.New("the next start is after the deadline")
)

func (b *Bus) tryReserve(ctx context.Context, limit Limit, deadline time.Time) (place, error) {
	t, revision, err := b.readTally(ctx, limit.Key)
	if err != nil {
		return place{}, err
	}
	now := time.Now()
	start := t.opening(now)
	if start.After(latest(deadline, now)) {
		return place{}, errTooLate
	}
	if t.full(limit, now) {
		return place{}, errFull
	}
	if limit.Concurrent == 0 && limit.Gap == 0 {
		return place{Start: start}, nil
	}
	taken := t.take(limit, start, nuid.Next())
	return taken, b.writeTally(ctx, limit.Key, t, revision)
}

// awaitStart waits for the reserved start. It reports false when a penalty came in
// the meantime, which the place must not ignore.
func (b *Bus) awaitStart(ctx context.Context, key string, taken place) (bool, error) {
	wait := time.Until(taken.Start)
	if wait <= 0 {
		return true, nil
	}
	if !sleep(ctx, wait) {
		return false, context.Cause(ctx)
	}
	t, _, err := b.readTally(ctx, key)
	if err != nil {
		// Its start was reserved: a tally that can't be read now takes nothing back.
		return true, nil //nolint:nilerr // see above
	}
	return !t.Barred.After(time.Now()), nil
}

// release gives a place back. What it can't give back expires.
func (b *Bus) release(ctx context.Context, key string, taken place) {
	if taken.ID == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
	defer cancel()
	err := b.change(ctx, key, func(t *tally) { t.give(taken, time.Now()) })
	if err != nil {
		b.log.WarnContext(ctx, "place not given back", "limit", key, "error", err)
	}
	b.turns.wake(key)
}

// deferral books the time at which a task that found no place should come again, one
// after the other: all at once, they would only be deferred again.
func (b *Bus) deferral(ctx context.Context, limit Limit) *fault.Deferral {
	until := time.Now().Add(awayPause)
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	err := b.change(ctx, limit.Key, func(t *tally) { until = t.book(limit, time.Now()) })
	if err != nil {
		b.log.DebugContext(ctx, "deferral not booked", "limit", limit.Key, "error", err)
	}
	return &fault.Deferral{Until: until, Limit: limit.Key}
}

// change applies fn to the newest tally until nobody else wrote in between.
func (b *Bus) change(ctx context.Context, key string, fn func(*tally)) error {
	retry := newBackoff(time.Millisecond, 20*time.Millisecond)
	for {
		t, revision, err := b.readTally(ctx, key)
		if err != nil {
			return err
		}
		fn(&t)
		err = b.writeTally(ctx, key, t, revision)
		if !isConflict(err) {
			return err
		}
		if !retry.wait(ctx) {
			return context.Cause(ctx)
		}
	}
}

func isConflict(err error) bool {
	return errors.Is(err, jetstream.ErrKeyExists) || errors.Is(err, jetstream.ErrKeyRevisionMismatch)
}
