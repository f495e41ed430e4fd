package gateway_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"

	"github.com/fathom-research/fathom/platform/rpc"
	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	"github.com/fathom-research/fathom/services/gateway"
)

// spans has every span of this process's tests.
var spans = tracetest.NewSpanRecorder()

func TestMain(m *testing.M) {
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)))
	otel.SetTextMapPropagator(propagation.TraceContext{})
	goleak.VerifyTestMain(m)
}

// bundle is a gateway in front of a fake state, both on real sockets.
type bundle struct {
	url   string
	state *fakeState
	http  *http.Client
	// stop ends the gateway's Run and returns its error.
	stop func() error
	// stopState ends state's server.
	stopState func()
	stateAddr string
}

func setup(t testing.TB, adjust func(*gateway.Config)) *bundle {
	t.Helper()
	b := &bundle{state: newFakeState()}
	b.stopState, b.stateAddr = serveState(t, b.state, "127.0.0.1:0")
	conn, err := rpc.Dial(b.stateAddr)
	require.NoError(t, err)
	cfg := gateway.Config{
		Addr: "127.0.0.1:0", MaxBody: 2 << 20, Timeout: time.Minute,
		Heartbeat: 15 * time.Second, Grace: 10 * time.Second,
	}
	if adjust != nil {
		adjust(&cfg)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	service, err := gateway.New(cfg, gateway.Deps{
		Conn: conn, Logger: slog.New(slog.DiscardHandler), Listener: listener,
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1\n") }),
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- service.Run(ctx) }()
	var stopped bool
	b.stop = func() error {
		cancel()
		if stopped {
			return nil
		}
		stopped = true
		return <-ran
	}
	b.url = "http://" + listener.Addr().String()
	b.http = &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		b.http.CloseIdleConnections()
		require.NoError(t, b.stop())
		require.NoError(t, conn.Close())
		b.stopState()
	})
	return b
}

// serveState serves state on addr and returns how to stop it.
func serveState(t testing.TB, state *fakeState, addr string) (func(), string) {
	t.Helper()
	listener, err := net.Listen("tcp", addr)
	require.NoError(t, err)
	server := rpc.NewServer()
	researchv1.RegisterResearchServiceServer(server, state)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener)
	}()
	return func() {
		server.Stop()
		<-served
	}, listener.Addr().String()
}

// answer is a response that was read.
type answer struct {
	status int
	header http.Header
	body   string
}

func (b *bundle) do(t testing.TB, method, path, body string, header ...string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, b.url+path, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := b.http.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return answer{status: response.StatusCode, header: response.Header, body: string(read)}
}

// problem reads an error answer.
func (a answer) problem(t testing.TB) (int, string) {
	t.Helper()
	require.Equal(t, "application/json", a.header.Get("Content-Type"), a.body)
	var body struct {
		Code    *int              `json:"code"`
		Message *string           `json:"message"`
		Details []json.RawMessage `json:"details"`
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &body), a.body)
	require.NotNil(t, body.Code)
	require.NotNil(t, body.Message)
	require.NotNil(t, body.Details)
	return *body.Code, *body.Message
}

// create makes a research with two questions.
func (b *bundle) create(t testing.TB) string {
	t.Helper()
	got := b.do(t, "POST", "/api/research/questions", `{"initial_prompt":"Is water wet?","num_questions":2}`)
	require.Equal(t, 200, got.status, got.body)
	var made struct {
		ResearchID string `json:"research_id"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.body), &made))
	return made.ResearchID
}

func (b *bundle) start(t testing.TB, id string) {
	t.Helper()
	got := b.do(t, "POST", "/api/research/start", `{"research_id":"`+id+`","followup_answers":["yes",""],"depth":2,"breadth":3}`)
	require.Equal(t, 200, got.status, got.body)
}
