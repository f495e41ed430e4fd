package proxy

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"

	"github.com/fathom-research/fathom/platform/fault"
)

// connect opens a tunnel and stays until one side ends it.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	err := p.check(&url.URL{Scheme: "https", Host: r.Host})
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	server, err := p.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	defer server.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		p.refuse(w, r, fault.Transient(fault.Internal, "take the connection over: %w", err))
		return
	}
	defer client.Close()
	_, err = io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n")
	if err != nil {
		return
	}
	var done sync.WaitGroup
	done.Go(func() {
		// What the client sent along with its request comes first.
		_, _ = io.Copy(server, buffered)
		_ = server.Close()
	})
	_, _ = io.Copy(client, io.LimitReader(server, p.opts.MaxBytes))
	_ = client.Close()
	_ = server.Close()
	done.Wait()
}

// connections closes what is open when the proxy stops: the HTTP server knows
// nothing of connections that were taken over.
type connections struct {
	mu     sync.Mutex
	open   map[net.Conn]struct{}
	closed bool
	count  sync.WaitGroup
}

func (c *connections) track(connection net.Conn) net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = connection.Close()
		return connection
	}
	if c.open == nil {
		c.open = make(map[net.Conn]struct{})
	}
	c.open[connection] = struct{}{}
	c.count.Add(1)
	return &trackedConn{Conn: connection, forget: sync.OnceFunc(func() { c.forget(connection) })}
}

func (c *connections) forget(connection net.Conn) {
	c.mu.Lock()
	delete(c.open, connection)
	c.mu.Unlock()
	c.count.Done()
}

func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for connection := range c.open {
		_ = connection.Close()
	}
}

// wait returns when whoever used the connections has let them go.
func (c *connections) wait() { c.count.Wait() }

type trackedConn struct {
	net.Conn
	forget func()
}

func (c *trackedConn) Close() error {
	err := c.Conn.Close()
	c.forget()
	return err
}

type tracked struct {
	net.Listener
	open *connections
}

func (t tracked) Accept() (net.Conn, error) {
	connection, err := t.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return t.open.track(connection), nil
}
