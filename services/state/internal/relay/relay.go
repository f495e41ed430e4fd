// Package relay publishes the tasks that transactions left in the outbox.
package relay

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"golang.org/x/sync/errgroup"

	"github.com/fathom-research/fathom/platform/bus"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/store"
)

const (
	batch     = 64
	parallel  = 8
	lease     = 15 * time.Second
	patience  = 10 * time.Second // of one publish; ends before the lease does
	heartbeat = time.Second
)

// Outbox is where due tasks are claimed.
type Outbox interface {
	Claim(ctx context.Context, limit int, lease time.Duration) ([]store.Claimed, error)
	NextDue(ctx context.Context, limit time.Duration) (time.Duration, error)
	// MarkSent notes what was published, of kinds whose publishing is not told of.
	MarkSent(ctx context.Context, tasks []store.Task) error
}

// Builder makes the message of a task.
type Builder interface {
	Build(ctx context.Context, task store.Task) (*workv1.Task, error)
}

// Publisher is the bus.
type Publisher interface {
	PublishTask(ctx context.Context, task *workv1.Task) error
}

// Marker notes what was published, and that websites are being scraped from then on.
type Marker interface {
	Published(ctx context.Context, tenant, researchID string, tasks []store.Task) error
}

// Relay publishes due tasks until it is stopped. Any number of them may run at once.
type Relay struct {
	Outbox    Outbox
	Builder   Builder
	Publisher Publisher
	Marker    Marker
	Logger    *slog.Logger
	// Wake receives when there are new tasks. Missing one costs at most a second.
	Wake <-chan struct{}
}

// Run publishes until ctx ends. What can't be published stays in the outbox.
func (r *Relay) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.Wake:
		case <-timer.C:
		}
		wait := heartbeat
		err := r.drain(ctx)
		if err == nil {
			wait, err = r.Outbox.NextDue(ctx, heartbeat)
		}
		if err != nil && ctx.Err() == nil {
			r.Logger.ErrorContext(ctx, "relay stopped short", "error", err)
			wait = heartbeat
		}
		timer.Reset(max(wait, time.Millisecond))
	}
}

// drain publishes until nothing is due.
func (r *Relay) drain(ctx context.Context) error {
	for ctx.Err() == nil {
		published, err := r.Once(ctx)
		if err != nil || published == 0 {
			return err
		}
	}
	return nil
}

// Once claims one batch and publishes it, outside of any transaction. It returns
// how many tasks were published.
func (r *Relay) Once(ctx context.Context) (int, error) {
	claimed, err := r.Outbox.Claim(ctx, batch, lease)
	if err != nil || len(claimed) == 0 {
		return 0, err
	}
	var (
		mutex  sync.Mutex
		sent   []store.Task
		told   = make(map[store.Reference][]store.Task)
		count  int
		failed error
	)
	var group errgroup.Group
	group.SetLimit(parallel)
	for _, task := range claimed {
		group.Go(func() error {
			err := r.publish(ctx, task)
			mutex.Lock()
			defer mutex.Unlock()
			if err != nil {
				failed = errors.Join(failed, err)
				return nil
			}
			count++
			if task.Kind != bus.Scrape {
				sent = append(sent, task.Task)
				return nil
			}
			research := store.Reference{Tenant: task.Tenant, ID: task.ResearchID}
			told[research] = append(told[research], task.Task)
			return nil
		})
	}
	_ = group.Wait()
	if len(sent) > 0 {
		failed = errors.Join(failed, r.Outbox.MarkSent(ctx, sent))
	}
	for research, tasks := range told {
		err := r.Marker.Published(ctx, research.Tenant, research.ID, tasks)
		failed = errors.Join(failed, err)
	}
	return count, failed
}

func (r *Relay) publish(ctx context.Context, task store.Claimed) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	message, err := r.Builder.Build(ctx, task.Task)
	if err != nil {
		return err
	}
	return r.Publisher.PublishTask(underResearch(ctx, task.Traceparent), message)
}

// underResearch makes the research's root span the parent of what is published: all
// work of a research is one trace, whoever applied the result that led to it.
func underResearch(ctx context.Context, traceparent string) context.Context {
	if traceparent == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": traceparent})
}
