// Package bus is the one place that knows NATS: streams, consumers, blobs, the
// journal, rate tokens, and what happens to a task for each way its handler ends.
package bus

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

var errUnbuilt = errors.New("bus: not built yet")

// Options tune a Bus; the zero value is what production uses.
type Options struct {
	// AckWait is how long a silent worker holds a task before it is redelivered;
	// 30 s when zero. Heartbeats go out three times in it.
	AckWait time.Duration
	Logger  *slog.Logger
}

// Bus is a connection to NATS JetStream. It is safe for concurrent use.
type Bus struct{}

// Connect dials NATS and keeps reconnecting for ever.
func Connect(url, name string) (*nats.Conn, error) { return nil, errUnbuilt }

// Open makes a Bus on a connection that the caller keeps and closes. It does not
// talk to the server.
func Open(nc *nats.Conn, opts Options) (*Bus, error) { return nil, errUnbuilt }

// Provision creates or updates every stream, consumer and bucket. State calls it at
// start, at every reconnect and at each sweep; it is idempotent.
func (b *Bus) Provision(ctx context.Context) error { return errUnbuilt }

// OnReconnect registers fn to be called after each reconnect.
func (b *Bus) OnReconnect(fn func()) {}

// PublishTask publishes a task and returns when the stream has stored it. The same
// task, attempt and delivery published again within the dedupe window is dropped.
// The span of ctx becomes the parent of the worker's span.
func (b *Bus) PublishTask(ctx context.Context, task *workv1.Task) error { return errUnbuilt }

// Handler does one task. It may be called twice for the same task, so it has no
// effects outside its result. It returns
//   - a result: its payload is set, the bus fills in ids and times;
//   - a *fault.Deferral: no try was made;
//   - any other error: becomes the result's failure (see fault.ToProto); a result
//     returned with it is kept: the usage, and a report's partial payload.
//
// ctx ends at the task's time limit, when its research is cancelled, and when the
// grace period of a stop is over.
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
// the grace period, hands back what is still running, and returns nil.
func (b *Bus) Work(ctx context.Context, worker Worker) error { return errUnbuilt }

// Results hands every result to apply until ctx ends, at most slots at once: those
// of workers, and a Failure{worker_died} for each task whose deliveries are used up.
// A result is removed only when apply returned nil; else it comes again, after a
// delay. apply must be idempotent.
func (b *Bus) Results(ctx context.Context, slots int, apply func(ctx context.Context, result *workv1.Result) error) error {
	return errUnbuilt
}

// Holds reports whether the task's message is in TASKS or a result of it in
// RESULTS, looked up in that order. A published task of which it reports false is lost.
func (b *Bus) Holds(ctx context.Context, kind Kind, researchID, taskID string) (bool, error) {
	return false, errUnbuilt
}

// CancelResearch removes the research's queued tasks and stops those that run. A
// research is cancelled in Postgres first: this only saves work.
func (b *Bus) CancelResearch(ctx context.Context, researchID string) error { return errUnbuilt }

// Announce wakes the watchers of a research: it has new events in Postgres.
func (b *Bus) Announce(ctx context.Context, researchID string) error { return errUnbuilt }

// Listen returns a channel that receives after announcements of the research, at
// least once after the last one; several may become one. It ends with ctx.
func (b *Bus) Listen(ctx context.Context, researchID string) (<-chan struct{}, error) {
	return nil, errUnbuilt
}

// Bury keeps a task that failed for good in DEAD, with its failure.
func (b *Bus) Bury(ctx context.Context, task *workv1.Task, failure *workv1.Failure) error {
	return errUnbuilt
}

// DeadTask is a task in DEAD. Task is nil when Body could not be decoded.
type DeadTask struct {
	Sequence   uint64
	ResearchID string
	TaskID     string
	Kind       Kind
	Failure    *workv1.Failure
	At         time.Time
	Task       *workv1.Task
	Body       []byte
}

// ErrNoDeadTask is returned for a sequence number that DEAD does not hold.
var ErrNoDeadTask = errors.New("no such dead task")

// DeadTasks lists DEAD, the oldest first, of one research when researchID is set.
func (b *Bus) DeadTasks(ctx context.Context, researchID string) ([]DeadTask, error) {
	return nil, errUnbuilt
}

// DeadTask reads one dead task.
func (b *Bus) DeadTask(ctx context.Context, sequence uint64) (*DeadTask, error) {
	return nil, errUnbuilt
}

// RemoveDeadTask takes a dead task out of DEAD, after it was replayed.
func (b *Bus) RemoveDeadTask(ctx context.Context, sequence uint64) error { return errUnbuilt }
