package state

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/engine"
)

const scope = "github.com/fathom-research/fathom/services/state"

type metrics struct {
	results  metric.Int64Counter
	duration metric.Float64Histogram
	tokens   metric.Int64Counter
}

func newMetrics() (*metrics, error) {
	meter := otel.Meter(scope)
	results, err := meter.Int64Counter("fathom.state.results",
		metric.WithDescription("Results by kind, by what became of them, and by the code of their failure."))
	duration, again := meter.Float64Histogram("fathom.state.apply.duration", metric.WithUnit("s"),
		metric.WithDescription("Time to apply a result."))
	tokens, last := meter.Int64Counter("fathom.model.tokens",
		metric.WithDescription("Model tokens that counted results consumed."))
	return &metrics{results: results, duration: duration, tokens: tokens}, errors.Join(err, again, last)
}

func (m *metrics) applied(ctx context.Context, result *workv1.Result, outcome engine.Outcome, err error, took time.Duration) {
	if err != nil {
		outcome = "error"
	}
	kind := attribute.String("kind", result.GetKind())
	m.results.Add(ctx, 1, metric.WithAttributes(kind,
		attribute.String("outcome", string(outcome)), attribute.String("code", result.GetFailure().GetCode())))
	m.duration.Record(ctx, took.Seconds(), metric.WithAttributes(kind))
	if outcome == engine.Late || err != nil {
		return
	}
	m.tokens.Add(ctx, max(0, result.GetUsage().GetInputTokens()), metric.WithAttributes(kind, attribute.String("direction", "input")))
	m.tokens.Add(ctx, max(0, result.GetUsage().GetOutputTokens()), metric.WithAttributes(kind, attribute.String("direction", "output")))
}
