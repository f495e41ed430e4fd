package telemetry_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"

	"github.com/fathom-research/fathom/platform/telemetry"
)

// No test here is parallel: telemetry is the process's.

func TestMetricsAreServedAndNothingIsExported(t *testing.T) {
	for _, name := range []string{"OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT"} {
		t.Setenv(name, "")
	}
	started, err := telemetry.Start(t.Context(), "sample", "v1")
	require.NoError(t, err)
	counter, err := otel.Meter("test").Int64Counter("fathom.sample")
	require.NoError(t, err)
	counter.Add(t.Context(), 3)

	answer := httptest.NewRecorder()
	started.Metrics.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, answer.Code)
	require.Regexp(t, `fathom_sample_total\{[^}]*\} 3`, answer.Body.String())
	require.Contains(t, answer.Body.String(), `service_name="sample"`)

	_, span := otel.Tracer("test").Start(t.Context(), "unseen")
	require.False(t, span.SpanContext().IsValid(), "traces are off unless they are asked for")
	require.NoError(t, started.Close(t.Context()))
}

func TestTracesAreExportedAndNamedInTheLog(t *testing.T) {
	exported := make(chan []byte, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/x-protobuf")
		if r.URL.Path == "/v1/traces" {
			exported <- body
		}
	}))
	defer collector.Close()
	t.Setenv("OTEL_TRACES_EXPORTER", "otlp")
	t.Setenv("OTEL_METRICS_EXPORTER", "none")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("FATHOM_LOG_FORMAT", "json")
	t.Setenv("FATHOM_LOG_LEVEL", "warn")
	log := captureStderr(t)

	started, err := telemetry.Start(t.Context(), "sample", "v1")
	require.NoError(t, err)
	ctx, span := otel.Tracer("test").Start(t.Context(), "a piece of work")
	started.Logger.InfoContext(ctx, "not this one")
	started.Logger.With("kind", "search").WithGroup("g").WarnContext(ctx, "slow")
	span.End()
	require.NoError(t, started.Close(t.Context()), "a close flushes")

	require.True(t, bytes.Contains(<-exported, []byte("a piece of work")))
	var line map[string]any
	require.NoError(t, json.Unmarshal(log(), &line))
	require.Equal(t, "slow", line["msg"])
	require.Equal(t, "sample", line["service"])
	require.Equal(t, "search", line["kind"])
	require.Contains(t, line, "g")
	require.Contains(t, line["g"], "trace_id")
}

func TestStartRefusesAnUnknownExporter(t *testing.T) {
	t.Setenv("OTEL_TRACES_EXPORTER", "carrier-pigeon")
	_, err := telemetry.Start(t.Context(), "sample", "v1")
	require.ErrorContains(t, err, "trace exporter")
}

// captureStderr returns what reads all that was written since.
func captureStderr(t *testing.T) func() []byte {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	before := os.Stderr
	os.Stderr = file
	t.Cleanup(func() {
		os.Stderr = before
		require.NoError(t, file.Close())
	})
	return func() []byte {
		written, err := os.ReadFile(file.Name())
		require.NoError(t, err)
		return written
	}
}
