package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// What context.Cause tells of a handler's ctx that has ended.
var (
	// ErrCancelled: nobody wants the result any more.
	ErrCancelled = errors.New("the research is cancelled")
	// ErrStopped: the process stops and the task will be done by another one.
	ErrStopped = errors.New("the worker stops")
	// ErrTimeLimit is a context.DeadlineExceeded to errors.Is.
	ErrTimeLimit = fmt.Errorf("the task's time limit is over: %w", context.DeadlineExceeded)
)

const defaultGrace = 20 * time.Second

// Handler does one task. It may be called twice for the same task, so it has no
// effects outside its result. It returns
//   - a result: its payload is set, the bus fills in ids and times;
//   - a *fault.Deferral: no try was made;
//   - any other error: becomes the result's failure (see fault.ToProto); a result
//     returned with it is kept: the usage, and a report's partial payload.
//
// ctx ends at the task's time limit, when its research is cancelled, and when the
// grace period of a stop is over; context.Cause says which. What a handler returns
// after a cancel or with an error after a stop is dropped.
type Handler func(ctx context.Context, task *workv1.Task) (*workv1.Result, error)

// Worker serves one kind of task.
type Worker struct {
	Kind Kind
	// Slots is how many tasks are worked on at once; a task is fetched only when a
	// slot is free.
	Slots  int
	Handle Handler
	// Grace is how long running tasks may go on after a stop; 20 s when zero.
	Grace time.Duration
}

// Work serves the worker's kind until ctx ends, then lets running tasks finish for
// the grace period, hands back what is still running, and returns nil. A server that
// is away or has lost its store does not end it.
func (b *Bus) Work(ctx context.Context, worker Worker) error {
	if !slices.Contains(Kinds, worker.Kind) || worker.Slots < 1 || worker.Handle == nil {
		return fmt.Errorf("work on %q with %d slots: a worker needs a kind, a slot and a handler", worker.Kind, worker.Slots)
	}
	// Running tasks outlive ctx by the grace period.
	running, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	w := &work{bus: b, Worker: worker, stopping: ctx, running: running, cancels: newCancels()}

	listening, err := b.nc.Subscribe("fathom.cancel.*", func(msg *nats.Msg) {
		w.cancels.cancel(strings.TrimPrefix(msg.Subject, "fathom.cancel."))
	})
	if err != nil {
		return fmt.Errorf("work on %s: listen for cancels: %w", worker.Kind, err)
	}
	defer func() { _ = listening.Unsubscribe() }()

	done := make(chan struct{})
	var grace sync.WaitGroup
	grace.Go(func() {
		select {
		case <-ctx.Done():
		case <-done:
			return
		}
		timer := time.NewTimer(cmp.Or(worker.Grace, defaultGrace))
		defer timer.Stop()
		select {
		case <-timer.C:
			stop(ErrStopped)
		case <-done:
		}
	})
	defer grace.Wait()
	defer close(done)

	b.consume(ctx, feed{stream: streamTasks, durable: string(worker.Kind), slots: worker.Slots, ahead: 1}, func(msg jetstream.Msg) {
		w.deliver(msg)
	})
	return nil
}

// work is one call of Work.
type work struct {
	Worker
	bus *Bus
	// stopping ends at the stop, running when the grace period is over.
	stopping context.Context
	running  context.Context
	cancels  *cancels
}

// cancels finds the running tasks of a research.
type cancels struct {
	mu    sync.Mutex
	next  int
	calls map[string]map[int]context.CancelCauseFunc
}

func newCancels() *cancels {
	return &cancels{calls: make(map[string]map[int]context.CancelCauseFunc)}
}

// add registers a task's cancel and returns what removes it.
func (c *cancels) add(researchID string, cancel context.CancelCauseFunc) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := c.next
	c.next++
	if c.calls[researchID] == nil {
		c.calls[researchID] = make(map[int]context.CancelCauseFunc)
	}
	c.calls[researchID][id] = cancel
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls[researchID], id)
		if len(c.calls[researchID]) == 0 {
			delete(c.calls, researchID)
		}
	}
}

func (c *cancels) cancel(researchID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cancel := range c.calls[researchID] {
		cancel(ErrCancelled)
	}
}
