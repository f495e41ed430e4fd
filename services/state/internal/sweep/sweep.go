// Package sweep looks after what nobody else would notice: lost tasks, deadlines,
// dead tasks, streams that are gone, and bytes that were kept long enough.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fathom-research/fathom/platform/bus"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/store"
)

const (
	batch    = 1000
	parallel = 8
	patience = 30 * time.Second // of one step of a sweep
	knock    = 5 * time.Second  // until the bus counts as away
)

// Bus is what the sweeper needs of the bus.
type Bus interface {
	Provision(ctx context.Context) error
	Holds(ctx context.Context, kind bus.Kind, researchID, taskID string) (bool, error)
	Bury(ctx context.Context, task *workv1.Task, failure *workv1.Failure) error
}

// Store is what the sweeper reads and notes.
type Store interface {
	Suspects(ctx context.Context, quiet time.Duration, limit int) ([]store.Task, error)
	Seen(ctx context.Context, task store.Task) error
	Unburied(ctx context.Context, limit int) ([]store.Task, error)
	Buried(ctx context.Context, task store.Task) error
	Overdue(ctx context.Context, grace time.Duration, limit int) ([]store.Reference, error)
	DropRaw(ctx context.Context, lifetime time.Duration, limit int) (int, error)
}

// Engine is what the sweeper sets right.
type Engine interface {
	Lost(ctx context.Context, task store.Task) (bool, error)
	Expire(ctx context.Context, tenant, researchID string, grace time.Duration) error
}

// Builder makes the message of a task.
type Builder interface {
	Build(ctx context.Context, task store.Task) (*workv1.Task, error)
}

// Sweeper sweeps at intervals. Any number of them may run at once.
type Sweeper struct {
	Bus     Bus
	Store   Store
	Engine  Engine
	Builder Builder
	Logger  *slog.Logger
	// Every is the time between two sweeps.
	Every time.Duration
	// Quiet is how long after its publish a task is looked for, and how long after
	// it was seen again.
	Quiet time.Duration
	// ReportGrace is how long after the deadline a report may still be written.
	ReportGrace time.Duration
	// RawLifetime is how long the bytes of pages are kept as they were served; 0 is
	// for ever.
	RawLifetime time.Duration
	// Wake asks for a sweep at once: the bus was away.
	Wake <-chan struct{}
}

// Run sweeps until ctx ends.
func (s *Sweeper) Run(ctx context.Context) error {
	ticker := time.NewTicker(s.Every)
	defer ticker.Stop()
	for {
		err := s.Once(ctx)
		if err != nil && ctx.Err() == nil {
			s.Logger.WarnContext(ctx, "sweep incomplete", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.Wake:
		case <-ticker.C:
		}
	}
}

// Once does all that a sweep does. With the bus away, deadlines are kept all the same.
func (s *Sweeper) Once(ctx context.Context) error {
	late := errors.Join(step(ctx, "deadlines", patience, s.deadlines), step(ctx, "raw bytes", patience, s.raw))
	err := step(ctx, "streams", knock, s.Bus.Provision)
	if err != nil {
		return errors.Join(late, err)
	}
	return errors.Join(late, step(ctx, "lost tasks", patience, s.lost), step(ctx, "dead tasks", patience, s.dead))
}

func step(ctx context.Context, name string, limit time.Duration, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := do(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (s *Sweeper) deadlines(ctx context.Context) error {
	late, err := s.Store.Overdue(ctx, s.ReportGrace, batch)
	if err != nil {
		return err
	}
	var failed error
	for _, research := range late {
		err := s.Engine.Expire(ctx, research.Tenant, research.ID, s.ReportGrace)
		if err == nil {
			s.Logger.WarnContext(ctx, "research reached its deadline", "research_id", research.ID)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// rawBatch is how many pages lose their bytes in one sweep: each may have megabytes.
const rawBatch = 100

func (s *Sweeper) raw(ctx context.Context) error {
	if s.RawLifetime == 0 {
		return nil
	}
	dropped, err := s.Store.DropRaw(ctx, s.RawLifetime, rawBatch)
	if dropped > 0 {
		s.Logger.InfoContext(ctx, "dropped the bytes of old pages", "pages", dropped)
	}
	return err
}

// lost publishes again what neither waits for a worker nor has a result on its way.
// A task that waits in a deep queue is seen there, however long it waits.
func (s *Sweeper) lost(ctx context.Context) error {
	suspects, err := s.Store.Suspects(ctx, s.Quiet, batch)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, task := range suspects {
		group.Go(func() error { return s.look(ctx, task) })
	}
	return group.Wait()
}

func (s *Sweeper) look(ctx context.Context, task store.Task) error {
	held, err := s.Bus.Holds(ctx, task.Kind, task.ResearchID, task.ID)
	if err != nil {
		return err
	}
	if held {
		return s.Store.Seen(ctx, task)
	}
	republished, err := s.Engine.Lost(ctx, task)
	if republished {
		s.Logger.WarnContext(ctx, "published a lost task again", "research_id", task.ResearchID,
			"task_id", task.ID, "kind", task.Kind, "attempt", task.Attempt, "delivery", task.Delivery+1)
	}
	return err
}

// dead keeps tasks that failed for good where an operator finds them.
func (s *Sweeper) dead(ctx context.Context) error {
	tasks, err := s.Store.Unburied(ctx, batch)
	if err != nil {
		return err
	}
	var failed error
	for _, task := range tasks {
		failed = errors.Join(failed, s.bury(ctx, task))
	}
	return failed
}

func (s *Sweeper) bury(ctx context.Context, task store.Task) error {
	message, err := s.Builder.Build(ctx, task)
	if err != nil {
		return err
	}
	err = s.Bus.Bury(ctx, message, &workv1.Failure{Code: task.Code, Message: task.Message})
	if err != nil {
		return fmt.Errorf("bury task %s: %w", task.ID, err)
	}
	return s.Store.Buried(ctx, task)
}
