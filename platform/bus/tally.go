package bus

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// tally is what TOKENS knows of one limit.
type tally struct {
	Places []place `json:"places,omitempty"`
	// Next is the earliest start that the gap allows.
	Next time.Time `json:"next,omitzero"`
	// Barred is the end of a penalty.
	Barred time.Time `json:"barred,omitzero"`
	// Booked is how far ahead deferred tasks have been told to come again.
	Booked time.Time `json:"booked,omitzero"`
	// Kept is how long places were kept lately.
	Kept time.Duration `json:"kept,omitzero"`
}

// place is a holder's, from its start until it is given back or Until has come. It
// has no ID when nobody counts the holders.
type place struct {
	ID    string    `json:"id"`
	Start time.Time `json:"start"`
	Until time.Time `json:"until"`
}

const (
	// farthest bounds how long a task is deferred beyond the next opening: the
	// estimate behind it may be wrong.
	farthest     = 30 * time.Second
	leastSpacing = 50 * time.Millisecond
	guessedKeep  = 500 * time.Millisecond
	// newestWeighs: the newest holder counts for a quarter of the mean.
	newestWeighs = 4
)

// opening is the earliest start of the next holder, if there is a place.
func (t *tally) opening(now time.Time) time.Time { return latest(now, t.Next, t.Barred) }

func (t *tally) full(limit Limit, now time.Time) bool {
	t.Places = slices.DeleteFunc(t.Places, func(p place) bool { return !p.Until.After(now) })
	return limit.Concurrent > 0 && len(t.Places) >= limit.Concurrent
}

func (t *tally) take(limit Limit, start time.Time, id string) place {
	t.Next = start.Add(limit.Gap)
	if limit.Concurrent == 0 {
		return place{Start: start}
	}
	taken := place{ID: id, Start: start, Until: start.Add(cmp.Or(limit.Hold, defaultHold))}
	t.Places = append(t.Places, taken)
	return taken
}

func (t *tally) give(taken place, now time.Time) {
	t.Places = slices.DeleteFunc(t.Places, func(p place) bool { return p.ID == taken.ID })
	kept := max(0, now.Sub(taken.Start))
	if t.Kept == 0 {
		t.Kept = kept
		return
	}
	t.Kept += (kept - t.Kept) / newestWeighs
}

// book returns when the next deferred task should come.
func (t *tally) book(limit Limit, now time.Time) time.Time {
	spacing := max(limit.Gap, leastSpacing)
	if limit.Concurrent > 0 {
		spacing = max(spacing, cmp.Or(t.Kept, guessedKeep)/time.Duration(limit.Concurrent))
	}
	opening := t.opening(now)
	booked := latest(t.Booked, opening)
	if booked.After(opening.Add(farthest)) {
		booked = opening.Add(farthest)
	}
	t.Booked = booked.Add(spacing)
	return t.Booked
}

func (b *Bus) readTally(ctx context.Context, key string) (tally, uint64, error) {
	bucket, err := b.bucket(ctx, bucketTokens)
	if err != nil {
		return tally{}, 0, err
	}
	ctx, cancel := asking(ctx)
	defer cancel()
	entry, err := bucket.Get(ctx, token(key))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return tally{}, 0, nil
	}
	if err != nil {
		return tally{}, 0, fmt.Errorf("read limit %s: %w", key, err)
	}
	var t tally
	err = json.Unmarshal(entry.Value(), &t)
	if err != nil {
		return tally{}, 0, fmt.Errorf("read limit %s: %w", key, err)
	}
	return t, entry.Revision(), nil
}

// writeTally fails with a conflict when the limit has another revision by now.
func (b *Bus) writeTally(ctx context.Context, key string, t tally, revision uint64) error {
	value, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("write limit %s: %w", key, err)
	}
	bucket, err := b.bucket(ctx, bucketTokens)
	if err != nil {
		return err
	}
	ctx, cancel := asking(ctx)
	defer cancel()
	_, err = bucket.Update(ctx, token(key), value, revision)
	if err != nil {
		return fmt.Errorf("write limit %s: %w", key, err)
	}
	return nil
}

func latest(times ...time.Time) time.Time {
	return slices.MaxFunc(times, time.Time.Compare)
}
