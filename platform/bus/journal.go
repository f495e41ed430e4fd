package bus

import "context"

// Journal keeps the answers of one task's model calls, so that a redelivered task
// reads them instead of paying again. It holds for the death of processes; losing
// NATS's store may repeat the calls of open tasks.
type Journal struct{}

// Journal returns the journal of a task. Its keys are the caller's.
func (b *Bus) Journal(taskID string) *Journal { return &Journal{} }

// Get reads an entry; found is false when there is none.
func (j *Journal) Get(ctx context.Context, key string) (value []byte, found bool, err error) {
	return nil, false, errUnbuilt
}

// Put stores an entry and returns when the server has it. An entry that exists is
// replaced.
func (j *Journal) Put(ctx context.Context, key string, value []byte) error { return errUnbuilt }
