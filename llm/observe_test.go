package llm_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/fathom-research/fathom/llm"
	"github.com/fathom-research/fathom/platform/fault"
)

// This test sets the process's providers and so runs beside no other.
func TestACallHasASpanAndItsTokensAreCounted(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	reader := metric.NewManualReader()
	otel.SetTracerProvider(trace.NewTracerProvider(trace.WithSpanProcessor(spans)))
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))
	config := llm.Config{BaseURL: "http://models.example:8000/v1", Model: "m", PlannerModel: "planning"}
	client, err := llm.Observed(&model{answers: []string{"a"}}, config)
	require.NoError(t, err)
	_, err = client.Chat(t.Context(), llm.Request{Role: llm.Planner, MaxTokens: 9})
	require.NoError(t, err)
	broken, err := llm.Observed(failing{fault.Transient(fault.RateLimited, "slow down")}, config)
	require.NoError(t, err)
	_, err = broken.Chat(t.Context(), llm.Request{Role: llm.Reporter})
	require.Error(t, err)

	ended := spans.Ended()
	require.Len(t, ended, 2)
	require.Equal(t, "chat planning", ended[0].Name())
	for _, want := range []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.request.model", "planning"),
		attribute.String("gen_ai.response.model", "m"), attribute.Int("gen_ai.usage.input_tokens", 100),
		attribute.Int("gen_ai.usage.output_tokens", 10), attribute.String("server.address", "models.example"), attribute.Int("server.port", 8000),
	} {
		require.Contains(t, ended[0].Attributes(), want)
	}
	require.Equal(t, codes.Error, ended[1].Status().Code)
	require.Contains(t, ended[1].Attributes(), attribute.String("error.type", "rate_limited"))

	var collected metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &collected))
	sums := make(map[string]int64)
	for _, scope := range collected.ScopeMetrics {
		for _, instrument := range scope.Metrics {
			histogram, ok := instrument.Data.(metricdata.Histogram[int64])
			if !ok {
				continue
			}
			for _, point := range histogram.DataPoints {
				kind, _ := point.Attributes.Value("gen_ai.token.type")
				sums[instrument.Name+"/"+kind.AsString()] += point.Sum
			}
		}
	}
	require.Equal(t, map[string]int64{"gen_ai.client.token.usage/input": 100, "gen_ai.client.token.usage/output": 10}, sums)
}
