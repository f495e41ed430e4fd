package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fathom-research/fathom/services/scraper/internal/fetch"
	"github.com/fathom-research/fathom/services/scraper/internal/guard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestForwardsWhatIsAllowed(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(fetch.RefusedHeader, "a server that speaks in the proxy's name")
		_, _ = fmt.Fprintf(w, "%s for=%q via=%q", r.Host, r.Header.Get("X-Forwarded-For"), r.Header.Get("Proxy-Connection"))
	})
	plain, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	client := through(t, start(t, 1<<20, plain.URL, secure.URL))
	for _, address := range []string{plain.URL, secure.URL} {
		answer, err := client.Get(address)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, strings.SplitN(address, "//", 2)[1]+` for="" via=""`, string(body))
	}
	answer, err := client.Get(plain.URL)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Empty(t, answer.Header.Get(fetch.RefusedHeader))
}

func TestRefusesWhatIsPrivate(t *testing.T) {
	t.Parallel()
	var arrived atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
	t.Cleanup(server.Close)
	proxy := start(t, 1<<20)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)
	for _, host := range []string{"127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.0.0.1", "[::ffff:7f00:1]", "[::1]", "0.0.0.0"} {
		for _, request := range []string{
			"GET http://%[1]s:%[2]s/ HTTP/1.1\r\nHost: %[1]s:%[2]s\r\n\r\n",
			"GET http://example.org@%[1]s:%[2]s/ HTTP/1.1\r\nHost: example.org\r\n\r\n",
			"CONNECT %[1]s:%[2]s HTTP/1.1\r\nHost: %[1]s:%[2]s\r\n\r\n",
			"CONNECT %[1]s:443 HTTP/1.1\r\nHost: %[1]s:443\r\n\r\n",
			"GET ws://%[1]s:%[2]s/ HTTP/1.1\r\nHost: %[1]s:%[2]s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
			"GET file:///etc/passwd HTTP/1.1\r\nHost: %[1]s:%[2]s\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: %[1]s:%[2]s\r\n\r\n",
		} {
			answer := raw(t, proxy, fmt.Sprintf(request, host, port))
			require.GreaterOrEqual(t, answer.StatusCode, 400, request)
		}
	}
	require.Zero(t, arrived.Load())
}

func TestRefusalSaysWhy(t *testing.T) {
	t.Parallel()
	proxy := start(t, 1<<20)
	answer := raw(t, proxy, "GET http://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	require.Equal(t, http.StatusForbidden, answer.StatusCode)
	require.Contains(t, answer.Header.Get(fetch.RefusedHeader), "not an address of the public internet")
	answer = raw(t, proxy, "CONNECT www.google-analytics.com:443 HTTP/1.1\r\nHost: www.google-analytics.com:443\r\n\r\n")
	require.Contains(t, answer.Header.Get(fetch.RefusedHeader), "is a tracker")
}

func TestUpgradesPassThrough(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "websocket", r.Header.Get("Upgrade"))
		connection, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer connection.Close()
		_, _ = io.WriteString(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		line, _ := buffered.ReadString('\n')
		_, _ = io.WriteString(connection, "echo "+line)
	}))
	t.Cleanup(server.Close)
	connection, err := net.Dial("tcp", start(t, 1<<20, server.URL).Host)
	require.NoError(t, err)
	defer connection.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	_, err = fmt.Fprintf(connection, "GET http://%s/ HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", host, host)
	require.NoError(t, err)
	reader := bufio.NewReader(connection)
	answer, err := http.ReadResponse(reader, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, answer.StatusCode)
	_, err = io.WriteString(connection, "hello\n")
	require.NoError(t, err)
	line, err := reader.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "echo hello\n", line)
}

func TestBytesAreBounded(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		block := make([]byte, 64<<10)
		for {
			_, err := w.Write(block)
			if err != nil {
				return
			}
		}
	})
	plain, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	client := through(t, start(t, 1<<20, plain.URL, secure.URL))
	for _, address := range []string{plain.URL, secure.URL} {
		answer, err := client.Get(address)
		require.NoError(t, err)
		read, err := io.Copy(io.Discard, answer.Body)
		require.Error(t, err)
		require.LessOrEqual(t, read, int64(1<<20))
		require.NoError(t, answer.Body.Close())
	}
}

// start runs a proxy that lets the given servers through, until the test ends.
func start(t *testing.T, maxBytes int64, allowed ...string) *url.URL {
	t.Helper()
	var hosts []string
	for _, address := range allowed {
		u, err := url.Parse(address)
		require.NoError(t, err)
		hosts = append(hosts, u.Host)
	}
	rules, err := guard.New(guard.Options{Allow: hosts})
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	p := New(Options{Dial: rules.DialContext, MaxBytes: maxBytes, Logger: slog.New(slog.DiscardHandler)})
	go func() { ended <- p.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	return &url.URL{Scheme: "http", Host: listener.Addr().String()}
}

func through(t *testing.T, proxy *url.URL) *http.Client {
	t.Helper()
	transport := &http.Transport{
		Proxy:           http.ProxyURL(proxy),
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // a test server's certificate
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func raw(t *testing.T, proxy *url.URL, request string) *http.Response {
	t.Helper()
	connection, err := net.Dial("tcp", proxy.Host)
	require.NoError(t, err)
	defer connection.Close()
	_, err = io.WriteString(connection, request)
	require.NoError(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	require.NoError(t, err, request)
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	return answer
}
