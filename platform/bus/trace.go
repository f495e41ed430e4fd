package bus

import (
	"context"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

const scope = "github.com/fathom-research/fathom/platform/bus"

// traceContext is W3C's, whatever the process uses elsewhere: both ends of a message
// are here.
var traceContext = propagation.TraceContext{}

// inject writes the span of ctx into the headers of a message.
func inject(ctx context.Context, header nats.Header) {
	traceContext.Inject(ctx, carrier(header))
}

// startConsumer begins the span of a message's handling, as a child of the span that
// published it: so a research is one trace.
func startConsumer(ctx context.Context, header nats.Header, name string, e envelope) (context.Context, trace.Span) {
	ctx = traceContext.Extract(ctx, carrier(header))
	return otel.Tracer(scope).Start(ctx, name, trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
		attribute.String("messaging.system", "nats"),
		attribute.String("fathom.kind", string(e.kind)),
		attribute.String("fathom.research_id", e.researchID),
		attribute.String("fathom.task_id", e.taskID),
		attribute.Int("fathom.attempt", int(e.attempt)),
		attribute.Int("fathom.delivery", int(e.delivery)),
	))
}

func endSpan(span trace.Span, outcome string, err error) {
	span.SetAttributes(attribute.String("fathom.outcome", outcome))
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
}

// carrier lets the propagator read and write headers.
type carrier nats.Header

func (c carrier) Get(key string) string { return nats.Header(c).Get(key) }

func (c carrier) Set(key, value string) { nats.Header(c).Set(key, value) }

func (c carrier) Keys() []string {
	keys := make([]string, 0, len(c))
	for key := range c {
		keys = append(keys, key)
	}
	return keys
}
