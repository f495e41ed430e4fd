package stack

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/fathom-research/fathom/platform/bus"
)

const natsReady = 30 * time.Second

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

func (m *messaging) close() {
	m.conn.Close()
	if m.server != nil {
		m.server.Shutdown()
		m.server.WaitForShutdown()
	}
}
