package engine_test

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/fathom-research/fathom/platform/bus"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/engine"
	"github.com/fathom-research/fathom/services/state/internal/message"
	"github.com/fathom-research/fathom/services/state/internal/store"
)

// faults are what goes wrong with calls: one in ten is not done, and one in twenty
// is done though its answer is lost.
type faults struct {
	notDone, answerLost atomic.Int64
}

func (f *faults) before() error {
	if rand.IntN(100) < 10 {
		f.notDone.Add(1)
		return errInjected
	}
	return nil
}

func (f *faults) after() error {
	if rand.IntN(100) < 5 {
		f.answerLost.Add(1)
		return errInjected
	}
	return nil
}

func (f *faults) hooks() store.Hooks {
	return store.Hooks{
		BeforeCommit: func(context.Context) error { return f.before() },
		AfterCommit:  func(context.Context) error { return f.after() },
	}
}

// call does something through the faults.
func call[T any](f *faults, do func() (T, error)) (T, error) {
	var none T
	err := f.before()
	if err != nil {
		return none, err
	}
	value, err := do()
	if err != nil {
		return none, err
	}
	err = f.after()
	if err != nil {
		return none, err
	}
	return value, nil
}

func (f *faults) do(do func() error) error {
	_, err := call(f, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

// faultyBus is the bus that the relay and the sweeper see.
type faultyBus struct {
	*faults
	bus *bus.Bus
}

func (b faultyBus) PublishTask(ctx context.Context, task *workv1.Task) error {
	return b.do(func() error { return b.bus.PublishTask(ctx, task) })
}

func (b faultyBus) Provision(ctx context.Context) error {
	return b.do(func() error { return b.bus.Provision(ctx) })
}

func (b faultyBus) Holds(ctx context.Context, kind bus.Kind, researchID, taskID string) (bool, error) {
	return call(b.faults, func() (bool, error) { return b.bus.Holds(ctx, kind, researchID, taskID) })
}

func (b faultyBus) Bury(ctx context.Context, task *workv1.Task, failure *workv1.Failure) error {
	return b.do(func() error { return b.bus.Bury(ctx, task, failure) })
}

// faultyStore is the store that the relay and the sweeper see. Its leases are short,
// so that what was claimed and not published soon comes again.
type faultyStore struct {
	*faults
	store   *store.Store
	builder *message.Builder
}

func (s faultyStore) Claim(ctx context.Context, limit int, _ time.Duration) ([]store.Claimed, error) {
	return call(s.faults, func() ([]store.Claimed, error) { return s.store.Claim(ctx, limit, time.Second) })
}

func (s faultyStore) MarkSent(ctx context.Context, tasks []store.Task) error {
	return s.do(func() error { return s.store.MarkSent(ctx, tasks) })
}

func (s faultyStore) NextDue(ctx context.Context, limit time.Duration) (time.Duration, error) {
	return call(s.faults, func() (time.Duration, error) { return s.store.NextDue(ctx, limit) })
}

func (s faultyStore) Build(ctx context.Context, task store.Task) (*workv1.Task, error) {
	return call(s.faults, func() (*workv1.Task, error) { return s.builder.Build(ctx, task) })
}

func (s faultyStore) Suspects(ctx context.Context, quiet time.Duration, limit int) ([]store.Task, error) {
	return call(s.faults, func() ([]store.Task, error) { return s.store.Suspects(ctx, quiet, limit) })
}

func (s faultyStore) Seen(ctx context.Context, task store.Task) error {
	return s.do(func() error { return s.store.Seen(ctx, task) })
}

func (s faultyStore) Unburied(ctx context.Context, limit int) ([]store.Task, error) {
	return call(s.faults, func() ([]store.Task, error) { return s.store.Unburied(ctx, limit) })
}

func (s faultyStore) Buried(ctx context.Context, task store.Task) error {
	return s.do(func() error { return s.store.Buried(ctx, task) })
}

func (s faultyStore) Overdue(ctx context.Context, grace time.Duration, limit int) ([]store.Reference, error) {
	return call(s.faults, func() ([]store.Reference, error) { return s.store.Overdue(ctx, grace, limit) })
}

// results is the way of results into the engine.
func (f *faults) results(en *engine.Engine) func(ctx context.Context, result *workv1.Result) error {
	return func(ctx context.Context, result *workv1.Result) error {
		return f.do(func() error {
			_, err := en.Apply(ctx, result)
			return err
		})
	}
}

func (s faultyStore) DropRaw(ctx context.Context, lifetime time.Duration, limit int) (int, error) {
	return call(s.faults, func() (int, error) { return s.store.DropRaw(ctx, lifetime, limit) })
}
