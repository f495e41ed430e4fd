// Package telemetry sets up OpenTelemetry and logging for a process. Traces and
// metrics are exported only when OTEL_* variables ask for it; metrics can always be
// scraped at /metrics.
package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.40.0"
	oteltrace "go.opentelemetry.io/otel/trace"
)

// Telemetry is what a process's parts need of it.
type Telemetry struct {
	Logger *slog.Logger
	// Metrics serves the process's metrics in Prometheus's text format.
	Metrics  http.Handler
	shutdown []func(context.Context) error
}

// Start installs the global tracer, meter, propagator and logger of the process.
// service is its service.name unless OTEL_SERVICE_NAME is set. The log's level is
// FATHOM_LOG_LEVEL (debug, info, warn, error), its form FATHOM_LOG_FORMAT (text, json).
func Start(ctx context.Context, service, version string) (*Telemetry, error) {
	otel.SetTextMapPropagator(propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}))
	t := &Telemetry{Logger: newLogger().With("service", service)}
	slog.SetDefault(t.Logger)

	res, err := resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName(service), semconv.ServiceVersion(version)),
		resource.WithFromEnv(), resource.WithHost(), resource.WithProcessPID())
	if err != nil {
		return nil, fmt.Errorf("describe the process for telemetry: %w", err)
	}
	err = t.startTraces(ctx, res)
	if err != nil {
		return nil, errors.Join(err, t.Close(ctx))
	}
	err = t.startMetrics(ctx, res)
	if err != nil {
		return nil, errors.Join(err, t.Close(ctx))
	}
	return t, nil
}

// Close flushes what is buffered and stops the exporters.
func (t *Telemetry) Close(ctx context.Context) error {
	var failures []error
	for _, shutdown := range t.shutdown {
		failures = append(failures, shutdown(ctx))
	}
	t.shutdown = nil
	return errors.Join(failures...)
}

func (t *Telemetry) startTraces(ctx context.Context, res *resource.Resource) error {
	if !wanted("TRACES") {
		return nil
	}
	exporter, err := autoexport.NewSpanExporter(ctx)
	if err != nil {
		return fmt.Errorf("start the trace exporter: %w", err)
	}
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(res))
	otel.SetTracerProvider(provider)
	t.shutdown = append(t.shutdown, provider.Shutdown)
	return nil
}

func (t *Telemetry) startMetrics(ctx context.Context, res *resource.Resource) error {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	scraped, err := otelprometheus.New(otelprometheus.WithRegisterer(registry))
	if err != nil {
		return fmt.Errorf("start the metrics endpoint: %w", err)
	}
	options := []metric.Option{metric.WithReader(scraped), metric.WithResource(res)}
	if wanted("METRICS") {
		reader, err := autoexport.NewMetricReader(ctx)
		if err != nil {
			return fmt.Errorf("start the metric exporter: %w", err)
		}
		options = append(options, metric.WithReader(reader))
	}
	provider := metric.NewMeterProvider(options...)
	otel.SetMeterProvider(provider)
	t.Metrics = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	t.shutdown = append(t.shutdown, provider.Shutdown)
	return nil
}

// wanted reports whether the environment asks for an exporter of the signal. OTLP
// to localhost is OpenTelemetry's default; without any OTEL_* variable that would
// only make noise on a laptop.
func wanted(signal string) bool {
	if os.Getenv("OTEL_SDK_DISABLED") == "true" {
		return false
	}
	exporter := os.Getenv("OTEL_" + signal + "_EXPORTER")
	endpoint := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"))
	return exporter != "none" && (exporter != "" || endpoint != "")
}

func newLogger() *slog.Logger {
	var level slog.Level
	err := level.UnmarshalText([]byte(cmp.Or(os.Getenv("FATHOM_LOG_LEVEL"), "info")))
	if err != nil {
		level = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: level}
	if os.Getenv("FATHOM_LOG_FORMAT") == "json" {
		return slog.New(traced{slog.NewJSONHandler(os.Stderr, options)})
	}
	return slog.New(traced{slog.NewTextHandler(os.Stderr, options)})
}

// traced adds the ids of the context's span to each record, so that a log line
// finds its trace.
type traced struct{ slog.Handler }

func (h traced) Handle(ctx context.Context, record slog.Record) error {
	span := oteltrace.SpanContextFromContext(ctx)
	if span.IsValid() {
		record.AddAttrs(slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
	}
	return h.Handler.Handle(ctx, record)
}

func (h traced) WithAttrs(attrs []slog.Attr) slog.Handler { return traced{h.Handler.WithAttrs(attrs)} }
func (h traced) WithGroup(name string) slog.Handler       { return traced{h.Handler.WithGroup(name)} }
