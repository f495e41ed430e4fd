package health_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fathom-research/fathom/platform/health"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func get(h *health.Health, path string) (int, string) {
	mux := http.NewServeMux()
	h.Register(mux)
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	return answer.Code, answer.Body.String()
}

func TestReadyNeedsEveryCheck(t *testing.T) {
	t.Parallel()
	var nats error
	h := health.New(nil, map[string]health.Check{
		"postgres": func(context.Context) error { return nil },
		"nats":     func(context.Context) error { return nats },
	})
	status, _ := get(h, "/readyz")
	require.Equal(t, http.StatusOK, status)

	nats = errors.New("not connected")
	status, body := get(h, "/readyz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, "nats: not connected")
	status, _ = get(h, "/livez")
	require.Equal(t, http.StatusOK, status, "a process that waits for NATS lives")
}

func TestDrainingIsNotReady(t *testing.T) {
	t.Parallel()
	h := health.New(nil, nil)
	h.Drain()
	status, _ := get(h, "/readyz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	status, _ = get(h, "/livez")
	require.Equal(t, http.StatusOK, status)
}

func TestMetricsAreServed(t *testing.T) {
	t.Parallel()
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "fathom_tasks 1") })
	status, body := get(health.New(metrics, nil), "/metrics")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "fathom_tasks 1", body)
	status, _ = get(health.New(nil, nil), "/metrics")
	require.Equal(t, http.StatusNotFound, status)
}

func TestServeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- health.New(nil, nil).Serve(ctx, address) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	require.Eventually(t, func() bool {
		answer, err := client.Get("http://" + address + "/readyz")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	}, 10*time.Second, 5*time.Millisecond)
	cancel()
	require.NoError(t, <-ended)
}

func TestServeRefusesATakenAddress(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	require.Error(t, health.New(nil, nil).Serve(t.Context(), taken.Addr().String()))
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().String()
}
