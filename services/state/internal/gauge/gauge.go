// Package gauge measures what is to be done, whenever metrics are collected.
package gauge

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

const (
	most     = 100_000         // researches, and tasks, that are counted
	patience = 2 * time.Second // of one collection
	// young is how old a measurement may be: several collectors share one.
	young = time.Second
)

// Source is what is measured.
type Source interface {
	Backlog(ctx context.Context, limit int) (store.Backlog, error)
}

type gauges struct {
	source     Source
	lag        metric.Float64ObservableGauge
	researches metric.Int64ObservableGauge
	tasks      metric.Int64ObservableGauge

	mutex   sync.Mutex
	backlog store.Backlog
	read    time.Time
}

// Register makes the gauges. They are about the whole database, so replicas report
// the same.
func Register(meter metric.Meter, source Source) (metric.Registration, error) {
	lag, err := meter.Float64ObservableGauge("fathom.state.relay.lag", metric.WithUnit("s"),
		metric.WithDescription("Age of the oldest due task that is not published."))
	researches, again := meter.Int64ObservableGauge("fathom.state.researches",
		metric.WithDescription("Researches that have not ended, by status."))
	tasks, last := meter.Int64ObservableGauge("fathom.state.tasks",
		metric.WithDescription("Tasks that are not closed, by kind, and by whether they are due or with the workers."))
	err = errors.Join(err, again, last)
	if err != nil {
		return nil, fmt.Errorf("make state's gauges: %w", err)
	}
	g := &gauges{source: source, lag: lag, researches: researches, tasks: tasks}
	registration, err := meter.RegisterCallback(g.observe, lag, researches, tasks)
	if err != nil {
		return nil, fmt.Errorf("register state's gauges: %w", err)
	}
	return registration, nil
}

// observe reports every status and kind, those of which there is nothing as 0.
func (g *gauges) observe(ctx context.Context, observer metric.Observer) error {
	backlog, err := g.measure(ctx)
	if err != nil {
		return err
	}
	observer.ObserveFloat64(g.lag, backlog.Lag.Seconds())
	for _, status := range []workflow.Status{
		workflow.Asking, workflow.Ready, workflow.Running, workflow.Reporting, workflow.Paused,
	} {
		observer.ObserveInt64(g.researches, int64(backlog.Researches[status]),
			metric.WithAttributes(attribute.String("status", string(status))))
	}
	for _, kind := range bus.Kinds {
		for _, state := range []store.TaskState{store.TaskDue, store.TaskPublished} {
			observer.ObserveInt64(g.tasks, int64(backlog.Tasks[store.TaskGroup{Kind: kind, State: state}]),
				metric.WithAttributes(attribute.String("kind", string(kind)), attribute.String("state", string(state))))
		}
	}
	return nil
}

func (g *gauges) measure(ctx context.Context) (store.Backlog, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if time.Since(g.read) < young {
		return g.backlog, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	backlog, err := g.source.Backlog(ctx, most)
	if err != nil {
		return backlog, err
	}
	g.backlog, g.read = backlog, time.Now()
	return backlog, nil
}
