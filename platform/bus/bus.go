// Package bus is the one place that knows NATS: streams, consumers, blobs, the
// journal, rate tokens, and what happens to a task for each way its handler ends.
package bus

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const defaultAckWait = 30 * time.Second

// Options tune a Bus; the zero value is what production uses.
type Options struct {
	// AckWait is how long a silent worker holds a task before it is redelivered;
	// 30 s when zero. Heartbeats go out three times in it. Every Bus of a system
	// has the same, since Provision gives it to the consumers.
	AckWait time.Duration
	Logger  *slog.Logger
}

// Bus is a connection to NATS JetStream. It is safe for concurrent use.
type Bus struct {
	nc      *nats.Conn
	js      jetstream.JetStream
	ackWait time.Duration
	log     *slog.Logger
	process string
	meters  *meters
	turns   *turns
	revived *signals

	mu      sync.Mutex
	streams map[string]jetstream.Stream
	buckets map[string]jetstream.KeyValue
	objects jetstream.ObjectStore
}

// Open makes a Bus on a connection that the caller keeps and closes. It does not
// talk to the server.
func Open(nc *nats.Conn, opts Options) (*Bus, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("open JetStream: %w", err)
	}
	meters, err := newMeters()
	if err != nil {
		return nil, err
	}
	b := &Bus{
		nc:      nc,
		js:      js,
		ackWait: cmp.Or(opts.AckWait, defaultAckWait),
		log:     cmp.Or(opts.Logger, slog.Default()),
		process: processName(),
		meters:  meters,
		turns:   newTurns(),
		revived: newSignals(),
		streams: make(map[string]jetstream.Stream),
		buckets: make(map[string]jetstream.KeyValue),
	}
	b.watchConnection()
	return b, nil
}

// heartbeatEvery is a third of AckWait, so that two lost heartbeats in a row do not
// hand the task to a second worker.
func (b *Bus) heartbeatEvery() time.Duration { return b.ackWait / 3 }

// answerTimeout bounds each question to the server.
const answerTimeout = 5 * time.Second

// asking bounds a question whose caller has more time: the answer of a server that
// died in between never comes, and another one may be asked long before.
func asking(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, answerTimeout)
}

// stream, bucket and blobs look a part up at its first use. What they return holds
// names only, so it stays good when the server has lost its store and the part was
// made again.
func (b *Bus) stream(ctx context.Context, name string) (jetstream.Stream, error) {
	b.mu.Lock()
	stream, ok := b.streams[name]
	b.mu.Unlock()
	if ok {
		return stream, nil
	}
	ctx, cancel := asking(ctx)
	defer cancel()
	stream, err := b.js.Stream(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("find stream %s: %w", name, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.streams[name] = stream
	return stream, nil
}

func (b *Bus) bucket(ctx context.Context, name string) (jetstream.KeyValue, error) {
	b.mu.Lock()
	bucket, ok := b.buckets[name]
	b.mu.Unlock()
	if ok {
		return bucket, nil
	}
	ctx, cancel := asking(ctx)
	defer cancel()
	bucket, err := b.js.KeyValue(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("find bucket %s: %w", name, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buckets[name] = bucket
	return bucket, nil
}

func (b *Bus) blobs(ctx context.Context) (jetstream.ObjectStore, error) {
	b.mu.Lock()
	objects := b.objects
	b.mu.Unlock()
	if objects != nil {
		return objects, nil
	}
	ctx, cancel := asking(ctx)
	defer cancel()
	objects, err := b.js.ObjectStore(ctx, bucketBlobs)
	if err != nil {
		return nil, fmt.Errorf("find object store %s: %w", bucketBlobs, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.objects = objects
	return objects, nil
}

func processName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}
