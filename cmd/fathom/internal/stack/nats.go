package stack

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/fathom-research/fathom/platform/bus"
)

const (
	natsReady     = 30 * time.Second
	flushTimeout  = 2 * time.Second
	settleTimeout = 3 * time.Second
	settlePoll    = 20 * time.Millisecond
)

// messaging is a connection to NATS, and the server when it is our own.
type messaging struct {
	conn   *nats.Conn
	server *server.Server
}

// openNATS connects to url, or starts a server in this process when url is empty. It
// opens no port: nobody else is meant to reach it.
func openNATS(url, dir string) (*messaging, error) {
	if url != "" {
		conn, err := bus.Connect(url, "fathom")
		if err != nil {
			return nil, err
		}
		return &messaging{conn: conn}, nil
	}
	embedded, err := server.NewServer(&server.Options{
		ServerName: "fathom",
		DontListen: true,
		JetStream:  true,
		StoreDir:   filepath.Join(dir, "jetstream"),
		NoSigs:     true,
		NoLog:      true,
	})
	if err != nil {
		return nil, fmt.Errorf("make the embedded NATS: %w", err)
	}
	embedded.Start()
	if !embedded.ReadyForConnections(natsReady) {
		embedded.Shutdown()
		return nil, fmt.Errorf("the embedded NATS was not ready within %s", natsReady)
	}
	if !embedded.JetStreamEnabled() {
		embedded.Shutdown()
		return nil, errors.New("the embedded NATS could not open its store in the data folder")
	}
	conn, err := nats.Connect("", nats.InProcessServer(embedded), nats.Name("fathom"), nats.MaxReconnects(-1))
	if err != nil {
		embedded.Shutdown()
		return nil, fmt.Errorf("connect to the embedded NATS: %w", err)
	}
	return &messaging{conn: conn, server: embedded}, nil
}

// settle waits until state has applied the results that the workers left, for a short
// time. A result that it hands back is remembered by a running server only: after a
// restart it would come again when its acknowledgement is overdue.
func (m *messaging) settle(ctx context.Context) {
	if m.server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	js, err := jetstream.New(m.conn)
	if err != nil {
		return
	}
	for {
		stream, err := js.Stream(ctx, "RESULTS")
		if err != nil || stream.CachedInfo().State.Msgs == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(settlePoll):
		}
	}
}

// close waits until the server has what was sent last.
func (m *messaging) close() {
	_ = m.conn.FlushTimeout(flushTimeout)
	m.conn.Close()
	if m.server != nil {
		m.server.Shutdown()
		m.server.WaitForShutdown()
	}
}
