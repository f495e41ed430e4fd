package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// The streams, the buckets, and the durable consumer that reads RESULTS. The one of
// a kind of task is named after the kind.
const (
	streamTasks   = "TASKS"
	streamResults = "RESULTS"
	streamEvents  = "EVENTS"
	streamDead    = "DEAD"

	bucketBlobs     = "BLOBS"
	bucketJournal   = "JOURNAL"
	bucketTokens    = "TOKENS"
	bucketCancelled = "CANCELLED"

	consumerState = "state"
)

const (
	// maxBlobAge also bounds how long a dead task with a large body can be read.
	maxBlobAge = 30 * 24 * time.Hour
	// maxAckPending caps what all pods of a kind work on at once.
	maxAckPending = 4096
)

// topology is the one table of what Fathom keeps in NATS.
type topology struct {
	streams   []jetstream.StreamConfig
	buckets   []jetstream.KeyValueConfig
	objects   []jetstream.ObjectStoreConfig
	consumers map[string][]jetstream.ConsumerConfig
}

func newTopology(ackWait time.Duration) topology {
	work := func(name, subject, what string) jetstream.StreamConfig {
		return jetstream.StreamConfig{
			Name: name, Description: what, Subjects: []string{subject},
			Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage,
			Duplicates: 2 * time.Minute,
		}
	}
	// MaxDeliver is unlimited on purpose: see isPoison. There is no BackOff, which
	// would replace AckWait by its first interval.
	reader := func(name, filter string) jetstream.ConsumerConfig {
		return jetstream.ConsumerConfig{
			Durable: name, FilterSubject: filter, AckPolicy: jetstream.AckExplicitPolicy,
			AckWait: ackWait, MaxDeliver: -1, MaxAckPending: maxAckPending,
		}
	}
	table := topology{
		streams: []jetstream.StreamConfig{
			work(streamTasks, "fathom.task.>", "tasks that wait for a worker"),
			work(streamResults, "fathom.result.>", "results that wait for state"),
			{
				Name: streamEvents, Description: "wake-ups of watchers", Subjects: []string{"fathom.event.>"},
				Storage: jetstream.FileStorage, MaxAge: 72 * time.Hour, MaxMsgsPerSubject: 1,
			},
			{
				Name: streamDead, Description: "tasks that failed for good", Subjects: []string{"fathom.dead.>"},
				Storage: jetstream.FileStorage, MaxAge: 30 * 24 * time.Hour,
			},
		},
		buckets: []jetstream.KeyValueConfig{
			{Bucket: bucketJournal, Description: "answers of model calls, by task", TTL: 7 * 24 * time.Hour},
			{Bucket: bucketTokens, Description: "rate limits that all pods share", TTL: 24 * time.Hour},
			{Bucket: bucketCancelled, Description: "researches whose tasks need no work", TTL: 72 * time.Hour},
		},
		objects: []jetstream.ObjectStoreConfig{
			{Bucket: bucketBlobs, Description: "large bodies, by SHA-256", TTL: maxBlobAge},
		},
		consumers: map[string][]jetstream.ConsumerConfig{
			streamResults: {reader(consumerState, "fathom.result.>")},
		},
	}
	for _, kind := range Kinds {
		table.consumers[streamTasks] = append(table.consumers[streamTasks],
			reader(string(kind), "fathom.task."+string(kind)+".>"))
	}
	return table
}

// Provision creates or updates every stream, consumer and bucket. State calls it at
// start, at every reconnect and at each sweep; it is idempotent.
func (b *Bus) Provision(ctx context.Context) error {
	table := newTopology(b.ackWait)
	var failures []error
	provide := func(what, name string, create func(ctx context.Context) error) {
		if errors.Is(errors.Join(failures...), context.DeadlineExceeded) {
			return // nobody answers: the rest would only wait as long
		}
		ctx, cancel := asking(ctx)
		defer cancel()
		err := create(ctx)
		if err != nil {
			failures = append(failures, fmt.Errorf("provision %s %s: %w", what, name, err))
		}
	}
	for _, cfg := range table.streams {
		provide("stream", cfg.Name, func(ctx context.Context) error {
			_, err := b.js.CreateOrUpdateStream(ctx, cfg)
			return err
		})
	}
	for _, cfg := range table.buckets {
		provide("bucket", cfg.Bucket, func(ctx context.Context) error {
			_, err := b.js.CreateOrUpdateKeyValue(ctx, cfg)
			return err
		})
	}
	for _, cfg := range table.objects {
		provide("object store", cfg.Bucket, func(ctx context.Context) error {
			_, err := b.js.CreateOrUpdateObjectStore(ctx, cfg)
			return err
		})
	}
	for stream, consumers := range table.consumers {
		for _, cfg := range consumers {
			provide("consumer", stream+"/"+cfg.Durable, func(ctx context.Context) error {
				_, err := b.js.CreateOrUpdateConsumer(ctx, stream, cfg)
				return err
			})
		}
	}
	return errors.Join(failures...)
}
