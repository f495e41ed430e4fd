package stack

import (
	"context"
	"encoding/hex"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

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
	id := w.ask(t)
	record, _ := w.research(t, id, 2, 2)
	other := w.ask(t)
	w.stop()
	flush()

	all := kept.all()
	known := make(map[string]*trace.Span)
	for _, span := range all {
		known[string(span.GetSpanId())] = span
	}
	var roots, chats int
	done := make(map[string]int)
	traces := make(map[string]map[string]bool)
	for _, span := range all {
		parent := known[string(span.GetParentSpanId())]
		research := attribute(span, "fathom.research_id")
		if research != "" {
			if traces[research] == nil {
				traces[research] = make(map[string]bool)
			}
			traces[research][hex.EncodeToString(span.GetTraceId())] = true
		}
		switch kind, isWork := strings.CutPrefix(span.GetName(), "work "); {
		case span.GetName() == "research":
			roots++
		case isWork:
			require.NotNil(t, parent, "%s has a parent that nobody has sent", span.GetName())
			require.Equal(t, span.GetTraceId(), parent.GetTraceId())
			if research == id {
				done[kind]++
			}
		case strings.HasPrefix(span.GetName(), "chat "):
			chats++
			require.NotNil(t, parent)
			require.Equal(t, span.GetTraceId(), parent.GetTraceId())
			require.True(t, strings.HasPrefix(parent.GetName(), "work "), "a call of the model is below %q", parent.GetName())
			require.LessOrEqual(t, parent.GetStartTimeUnixNano(), span.GetStartTimeUnixNano())
		}
	}
	require.Equal(t, map[string]map[string]bool{
		id:    {record.GetTraceId(): true},
		other: {traceOf(t, w, other): true},
	}, traces)
	require.Equal(t, 2, roots)
	require.Len(t, w.model.Calls(), chats, "each call of the model has a span")
	require.Equal(t, 1, done["questions"])
	require.Equal(t, 1+2, done["queries"], "the root's and those of the two queries that have children")
	require.Equal(t, len(record.GetSerpQueries()), done["search"])
	require.Equal(t, int(record.GetCounts().GetDocuments()), done["scrape"])
	require.GreaterOrEqual(t, done["analyze"], int(record.GetCounts().GetDocuments()))
	require.Equal(t, 1, done["report"])
}
