// Package natstest runs a real NATS JetStream server inside a test.
package natstest

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

const patience = 20 * time.Second

// Connect starts a server of its own for the test and connects to it inside the
// process. Both end with the test.
func Connect(t testing.TB) *nats.Conn {
	t.Helper()
	s := start(t, &server.Options{DontListen: true})
	nc, err := nats.Connect("", nats.InProcessServer(s.running))
	require.NoError(t, err)
	t.Cleanup(func() { closeAndWait(t, nc) })
	return nc
}

// closeAndWait returns when the connection's goroutines have ended, for tests that
// look for leaks.
func closeAndWait(t testing.TB, nc *nats.Conn) {
	t.Helper()
	closed := make(chan struct{})
	nc.SetClosedHandler(func(*nats.Conn) { close(closed) })
	if nc.IsClosed() {
		return
	}
	nc.Close()
	select {
	case <-closed:
	case <-time.After(patience):
		t.Error("the connection to NATS does not close")
	}
}

// Server is a NATS server on a port of the loopback that can die and come back.
type Server struct {
	t       testing.TB
	options *server.Options
	running *server.Server
}

// Start starts a server that ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	return start(t, &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT})
}

func start(t testing.TB, options *server.Options) *Server {
	t.Helper()
	options.JetStream = true
	options.StoreDir = t.TempDir()
	options.NoLog = true
	options.NoSigs = true
	s := &Server{t: t, options: options}
	s.launch()
	t.Cleanup(s.Stop)
	return s
}

// URL is where clients connect; a restart does not change it.
func (s *Server) URL() string { return s.running.ClientURL() }

// Stop ends the server and keeps its store.
func (s *Server) Stop() {
	s.running.Shutdown()
	s.running.WaitForShutdown()
}

// Restart starts a stopped server on the same port and store, and a running one anew.
func (s *Server) Restart() {
	s.t.Helper()
	s.Stop()
	s.launch()
}

// LoseStore is Restart with an empty store.
func (s *Server) LoseStore() {
	s.t.Helper()
	s.Stop()
	require.NoError(s.t, os.RemoveAll(filepath.Join(s.options.StoreDir, "jetstream")))
	s.launch()
}

func (s *Server) launch() {
	s.t.Helper()
	running, err := server.NewServer(s.options)
	require.NoError(s.t, err)
	running.Start()
	s.running = running
	require.True(s.t, running.ReadyForConnections(patience), "NATS does not start")
	if !s.options.DontListen {
		address, ok := running.Addr().(*net.TCPAddr)
		require.True(s.t, ok)
		s.options.Port = address.Port
	}
}
