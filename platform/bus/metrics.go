package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

type meters struct {
	tasks     metric.Int64Counter
	queueWait metric.Float64Histogram
	handling  metric.Float64Histogram
}

func newMeters() (*meters, error) {
	meter := otel.Meter(scope)
	tasks, err1 := meter.Int64Counter("fathom.tasks",
		metric.WithDescription("Deliveries of tasks by how they ended."))
	queueWait, err2 := meter.Float64Histogram("fathom.task.queue_wait", metric.WithUnit("s"),
		metric.WithDescription("Time from a task's publish to the start of a delivery, redeliveries included."))
	handling, err3 := meter.Float64Histogram("fathom.task.handling", metric.WithUnit("s"),
		metric.WithDescription("Time that a handler took."))
	err := errors.Join(err1, err2, err3)
	if err != nil {
		return nil, fmt.Errorf("make the bus's metrics: %w", err)
	}
	return &meters{tasks: tasks, queueWait: queueWait, handling: handling}, nil
}

// begun counts the wait of a message that was published at the given time of the
// server's clock.
func (m *meters) begun(ctx context.Context, kind Kind, published time.Time) {
	m.queueWait.Record(ctx, max(0, time.Since(published).Seconds()), metric.WithAttributes(
		attribute.String("kind", string(kind))))
}

func (m *meters) handled(ctx context.Context, kind Kind, took time.Duration) {
	m.handling.Record(ctx, took.Seconds(), metric.WithAttributes(attribute.String("kind", string(kind))))
}

func (m *meters) ended(ctx context.Context, kind Kind, outcome string) {
	m.tasks.Add(ctx, 1, metric.WithAttributes(
		attribute.String("kind", string(kind)), attribute.String("outcome", outcome)))
}
