package provider_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fathom-research/fathom/llm"
	"github.com/fathom-research/fathom/llm/provider"
	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/config"
	"github.com/fathom-research/fathom/platform/fault"
	"github.com/fathom-research/fathom/testkit/bustest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, b *bus.Bus, url string, more map[string]string) provider.Client {
	t.Helper()
	environment := map[string]string{"FATHOM_LLM_BASE_URL": url, "FATHOM_LLM_MODEL": "m", "FATHOM_LLM_RETRIES": "0"}
	for name, value := range more {
		environment[name] = value
	}
	var cfg llm.Config
	require.NoError(t, config.LoadFrom(&cfg, environment))
	client, err := provider.Open(cfg, b)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

func serve(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

func TestAllClientsTogetherKeepTheLimit(t *testing.T) {
	t.Parallel()
	var inside, most, calls atomic.Int64
	proceed := make(chan struct{}, 100)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		most.Store(max(most.Load(), inside.Add(1)))
		calls.Add(1)
		<-proceed
		inside.Add(-1)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]any{"content": "x"}}}})
	})
	b := bustest.Open(t)
	limit := map[string]string{"FATHOM_LLM_CONCURRENT": "2"}
	clients := []provider.Client{open(t, b, url, limit), open(t, b, url, limit)}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			_, err := clients[i%2].Chat(t.Context(), llm.Request{User: "hi"})
			if err != nil {
				t.Error(err)
			}
		})
	}
	require.Eventually(t, func() bool { return calls.Load() == 2 }, 10*time.Second, time.Millisecond)
	for range 8 {
		proceed <- struct{}{}
	}
	group.Wait()
	require.Equal(t, int64(8), calls.Load())
	require.LessOrEqual(t, most.Load(), int64(2))
}

func TestARetryAfterHoldsForAllClients(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.Header().Set("Retry-After", "600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	b := bustest.Open(t)
	_, err := open(t, b, url, nil).Chat(t.Context(), llm.Request{User: "hi"})
	require.Equal(t, fault.RateLimited, fault.As(err).Code)
	_, err = open(t, b, url, nil).Chat(t.Context(), llm.Request{User: "hi"})
	var deferral *fault.Deferral
	require.ErrorAs(t, err, &deferral)
	require.WithinDuration(t, time.Now().Add(10*time.Minute), deferral.Until, time.Minute)
	require.Equal(t, int64(1), calls.Load())
}

func TestTheBuiltinEngineHasNoClient(t *testing.T) {
	t.Parallel()
	_, err := provider.Open(llm.Config{}, nil)
	require.Equal(t, fault.Misconfigured, fault.As(err).Code)
}
