package bus

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Journal keeps the answers of one task's model calls, so that a redelivered task
// reads them instead of paying again. It holds for the death of processes; losing
// NATS's store may repeat the calls of open tasks.
type Journal struct {
	bus  *Bus
	task string
}

// Journal returns the journal of a task. Its keys are the caller's, of any characters.
func (b *Bus) Journal(taskID string) *Journal { return &Journal{bus: b, task: taskID} }

// Get reads an entry; the second value is false when there is none.
func (j *Journal) Get(ctx context.Context, key string) ([]byte, bool, error) {
	bucket, err := j.bus.bucket(ctx, bucketJournal)
	if err != nil {
		return nil, false, err
	}
	ctx, cancel := asking(ctx)
	defer cancel()
	entry, err := bucket.Get(ctx, j.key(key))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read the journal of task %s: %w", j.task, err)
	}
	return entry.Value(), true, nil
}

// Put stores an entry and returns when the server has it. An entry that exists is
// replaced. A value must fit into a message: 1 MiB.
func (j *Journal) Put(ctx context.Context, key string, value []byte) error {
	bucket, err := j.bus.bucket(ctx, bucketJournal)
	if err != nil {
		return err
	}
	ctx, cancel := asking(ctx)
	defer cancel()
	_, err = bucket.Put(ctx, j.key(key), value)
	if err != nil {
		return fmt.Errorf("write the journal of task %s: %w", j.task, err)
	}
	return nil
}

func (j *Journal) key(key string) string {
	return "answer." + token(j.task) + "." + token(key)
}

// token makes one token of a key out of any characters.
func token(s string) string { return "k" + base64.RawURLEncoding.EncodeToString([]byte(s)) }
