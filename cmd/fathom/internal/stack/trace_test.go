package stack

import (
	"context"
	"encoding/hex"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"

	"github.com/fathom-research/fathom/platform/telemetry"
)

// spans is a collector of OpenTelemetry's protocol that keeps what it is sent.
type spans struct {
	collector.UnimplementedTraceServiceServer
	mu   sync.Mutex
	kept []*trace.Span
}

func (s *spans) Export(_ context.Context, request *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, resource := range request.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			s.kept = append(s.kept, scope.GetSpans()...)
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

func (s *spans) all() []*trace.Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*trace.Span(nil), s.kept...)
}

// collect serves a collector and has the process's telemetry export to it. The
// function that it returns ends the export, when all was sent.
func collect(t *testing.T) (*spans, func()) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	kept := &spans{}
	server := grpc.NewServer()
	collector.RegisterTraceServiceServer(server, kept)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		require.NoError(t, <-ended)
	})
	t.Setenv("OTEL_TRACES_EXPORTER", "otlp")
	t.Setenv("OTEL_METRICS_EXPORTER", "none")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+listener.Addr().String())
	observed, err := telemetry.Start(t.Context(), "fathom", "test")
	require.NoError(t, err)
	return kept, func() { require.NoError(t, observed.Close(t.Context())) }
}

// It is not parallel: telemetry is the process's.
func TestOneTracePerResearch(t *testing.T) {
	kept, flush := collect(t)
	w := newWorld(t, latencies{})
	first, _ := w.research(t, w.ask(t), 2, 2)
	second, _ := w.research(t, w.ask(t), 1, 1)
	w.stop()
	flush()

	all := kept.all()
	traces := make(map[string]map[string]bool)
	for _, span := range all {
		if research := attribute(span, "fathom.research_id"); research != "" {
			if traces[research] == nil {
				traces[research] = make(map[string]bool)
			}
			traces[research][hex.EncodeToString(span.GetTraceId())] = true
		}
	}
	require.NotEqual(t, first.GetTraceId(), second.GetTraceId())
	require.Equal(t, map[string]map[string]bool{
		first.GetResearchId():  {first.GetTraceId(): true},
		second.GetResearchId(): {second.GetTraceId(): true},
	}, traces)
	require.Equal(t, len(w.model.Calls()), requireFamilies(t, all), "each call of the model has a span")

	done := tasks(all, first.GetTraceId())
	require.GreaterOrEqual(t, done["analyze"], int(first.GetCounts().GetDocuments()))
	delete(done, "analyze")
	require.Equal(t, map[string]int{
		"questions": 1,
		"queries":   1 + 2, // the root's and those of the two queries that have children
		"search":    len(first.GetSerpQueries()),
		"scrape":    int(first.GetCounts().GetDocuments()),
		"report":    1,
	}, done)
}

// requireFamilies checks that each task is below a span that was sent too, and each
// call of the model below its task. It returns the number of calls.
func requireFamilies(t *testing.T, all []*trace.Span) int {
	t.Helper()
	known := make(map[string]*trace.Span)
	for _, span := range all {
		known[string(span.GetSpanId())] = span
	}
	chats := 0
	for _, span := range all {
		parent := known[string(span.GetParentSpanId())]
		isChat := strings.HasPrefix(span.GetName(), "chat ")
		if !isChat && !strings.HasPrefix(span.GetName(), "work ") {
			continue
		}
		require.NotNil(t, parent, "the parent of %q was not sent", span.GetName())
		require.Equal(t, parent.GetTraceId(), span.GetTraceId())
		if isChat {
			chats++
			require.Regexp(t, "^work (questions|queries|analyze|report)$", parent.GetName())
			require.LessOrEqual(t, parent.GetStartTimeUnixNano(), span.GetStartTimeUnixNano())
			require.LessOrEqual(t, span.GetEndTimeUnixNano(), parent.GetEndTimeUnixNano())
		}
	}
	return chats
}

// tasks counts the spans of work in a trace, by kind.
func tasks(all []*trace.Span, traceID string) map[string]int {
	done := make(map[string]int)
	for _, span := range all {
		kind, isWork := strings.CutPrefix(span.GetName(), "work ")
		if isWork && hex.EncodeToString(span.GetTraceId()) == traceID {
			done[kind]++
		}
	}
	return done
}

func attribute(span *trace.Span, key string) string {
	for _, given := range span.GetAttributes() {
		if given.GetKey() == key {
			return given.GetValue().GetStringValue()
		}
	}
	return ""
}
