package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	pullExpiry = 30 * time.Second
	// A consumer that vanished with the server's store is noticed when two of the
	// server's heartbeats are missing.
	pullHeartbeat = 2 * time.Second
)

var errReconnected = errors.New("reconnected")

// feed is a durable consumer and how it is read.
type feed struct {
	stream  string
	durable string
	slots   int
	// ahead is how many messages a pull asks for. With 1 a message is asked for only
	// when a slot is free; slow work must not wait in a client while others idle.
	ahead int
}

// consume hands messages to handle, at most slots at once, until ctx ends, and
// returns when every handle has. It survives lost connections and lost consumers:
// who provisions makes them again. After ctx has ended, handle still gets the
// messages that were on their way, to give them back.
func (b *Bus) consume(ctx context.Context, f feed, handle func(jetstream.Msg)) {
	r := &reader{bus: b, feed: f, handle: handle, slots: make(chan struct{}, f.slots)}
	defer r.running.Wait()

	retry := newBackoff(50*time.Millisecond, 2*time.Second)
	level := slog.LevelWarn
	for ctx.Err() == nil {
		r.received = 0
		err := r.read(ctx)
		if ctx.Err() != nil {
			return
		}
		if r.received > 0 || errors.Is(err, errReconnected) {
			retry.reset()
			level = slog.LevelWarn
		}
		b.log.Log(ctx, level, "consumer out of reach", "stream", f.stream, "consumer", f.durable, "error", err)
		// Said once: it is the same trouble until something was received.
		level = slog.LevelDebug
		retry.wait(ctx)
	}
}

type reader struct {
	bus      *Bus
	feed     feed
	handle   func(jetstream.Msg)
	slots    chan struct{}
	running  sync.WaitGroup
	received int
}

// read returns when ctx ends or the consumer can't be read any more.
func (r *reader) read(ctx context.Context) error {
	finding, found := asking(ctx)
	consumer, err := r.bus.js.Consumer(finding, r.feed.stream, r.feed.durable)
	found()
	if err != nil {
		return fmt.Errorf("find the consumer: %w", err)
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(r.feed.ahead),
		jetstream.PullExpiry(pullExpiry), jetstream.PullHeartbeat(pullHeartbeat))
	if err != nil {
		return fmt.Errorf("pull: %w", err)
	}
	// After a reconnect the consumer may be gone with the server's store.
	reading, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	forget := r.bus.revived.add(func() { cancel(errReconnected) })
	defer forget()

	defer r.drain(ctx, messages)
	for {
		select {
		case r.slots <- struct{}{}:
		case <-reading.Done():
			return context.Cause(reading)
		}
		msg, err := next(reading, messages)
		if err != nil {
			<-r.slots
			if reading.Err() != nil {
				return context.Cause(reading)
			}
			return fmt.Errorf("next message: %w", err)
		}
		r.start(msg)
	}
}

// settles are how long the pull that brought a message may take to be done with, before
// the next one is asked for again.
var settles = []time.Duration{5 * time.Millisecond, 50 * time.Millisecond}

// next waits for a message. The client asks for one when Next begins, unless the
// publishing of its last pull has not returned yet, which an answer that comes at once
// can outrun: then it asks for nothing, and waits until heartbeats are missing, 4 s
// later. So Next is begun anew soon after a message; what is asked for already is not
// asked for twice.
func next(ctx context.Context, messages jetstream.MessagesContext) (jetstream.Msg, error) {
	for _, settle := range settles {
		msg, err := messages.Next(jetstream.NextMaxWait(settle))
		if !errors.Is(err, nats.ErrTimeout) {
			return msg, err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return messages.Next(jetstream.NextContext(ctx))
}

// start runs handle in the slot that its caller has taken.
func (r *reader) start(msg jetstream.Msg) {
	r.received++
	r.running.Go(func() {
		defer func() { <-r.slots }()
		r.handle(msg)
	})
}

// drain handles what the server had sent before it heard that nobody reads any more:
// dropped, it would lie there until AckWait is over.
func (r *reader) drain(ctx context.Context, messages jetstream.MessagesContext) {
	messages.Drain()
	for {
		msg, err := messages.Next(jetstream.NextMaxWait(time.Second))
		if errors.Is(err, jetstream.ErrNoHeartbeat) {
			continue
		}
		if err != nil {
			messages.Stop()
			return
		}
		select {
		case r.slots <- struct{}{}:
			r.start(msg)
		case <-ctx.Done():
			r.handle(msg)
		}
	}
}
