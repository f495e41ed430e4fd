package bus_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/fathom-research/fathom/platform/bus"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// From the publish of a task to what state does with its result all is one trace.
func TestTraceIsCarriedOverTheBus(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(recorder))
	otel.SetTracerProvider(provider)
	t.Cleanup(func() { require.NoError(t, provider.Shutdown(context.Background())) })
	f := setupSlow(t)
	inHandler := make(chan oteltrace.SpanContext, 1)
	f.work(bus.Worker{Handle: func(ctx context.Context, _ *workv1.Task) (*workv1.Result, error) {
		inHandler <- oteltrace.SpanContextFromContext(ctx)
		return found("x"), nil
	}})
	inApply := make(chan oteltrace.SpanContext, 1)
	f.background(func(ctx context.Context) error {
		return f.Results(ctx, 1, func(ctx context.Context, _ *workv1.Result) error {
			inApply <- oteltrace.SpanContextFromContext(ctx)
			return nil
		})
	})

	ctx, root := provider.Tracer("test").Start(f.ctx, "start")
	require.NoError(t, f.PublishTask(ctx, search("t1")))
	root.End()
	handler, apply := receive(t, inHandler), receive(t, inApply)
	require.Equal(t, root.SpanContext().TraceID(), handler.TraceID())
	require.Equal(t, root.SpanContext().TraceID(), apply.TraceID())

	var spans []trace.ReadOnlySpan
	require.Eventually(t, func() bool {
		spans = recorder.Ended()
		return len(spans) == 3
	}, patience, often)
	parents := map[string]oteltrace.SpanID{}
	for _, span := range spans {
		parents[span.Name()] = span.Parent().SpanID()
		if span.Name() == "work search" {
			require.Equal(t, oteltrace.SpanKindConsumer, span.SpanKind())
			require.Contains(t, span.Attributes(), attribute.String("fathom.outcome", "ok"))
		}
	}
	require.Equal(t, root.SpanContext().SpanID(), parents["work search"])
	require.Equal(t, handler.SpanID(), parents["apply search"])
}
