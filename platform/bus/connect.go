package bus

import (
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Connect dials NATS and keeps reconnecting for ever. A server that can't be reached
// yet is no error: the connection comes up when the server does.
func Connect(url, name string) (*nats.Conn, error) {
	nc, err := nats.Connect(url,
		nats.Name(name),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(250*time.Millisecond),
		nats.ReconnectJitter(250*time.Millisecond, time.Second),
		nats.PingInterval(10*time.Second),
		nats.MaxPingsOutstanding(2),
		// Without a buffer a publish to a lost server fails at once, and its caller
		// keeps the message; a buffer would send it late, after it was given up.
		nats.ReconnectBufSize(-1),
		// The client does not call a first connection that came late a reconnect.
		nats.ConnectHandler(func(nc *nats.Conn) {
			if reconnected := nc.ReconnectHandler(); reconnected != nil {
				reconnected(nc)
			}
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS at %s: %w", url, err)
	}
	return nc, nil
}

// OnReconnect registers fn to be called after each reconnect, and after a first
// connection that came late. fn must not block.
func (b *Bus) OnReconnect(fn func()) { b.revived.add(fn) }

// watchConnection keeps the handlers that the caller has set on its connection.
func (b *Bus) watchConnection() {
	before := b.nc.ReconnectHandler()
	b.nc.SetReconnectHandler(func(nc *nats.Conn) {
		if before != nil {
			before(nc)
		}
		b.revived.fire()
	})
}

// signals calls every function that is registered at the time.
type signals struct {
	mu    sync.Mutex
	next  int
	calls map[int]func()
}

func newSignals() *signals { return &signals{calls: make(map[int]func())} }

// add registers fn and returns what removes it.
func (s *signals) add(fn func()) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.next
	s.next++
	s.calls[id] = fn
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.calls, id)
	}
}

func (s *signals) fire() {
	s.mu.Lock()
	calls := make([]func(), 0, len(s.calls))
	for _, fn := range s.calls {
		calls = append(calls, fn)
	}
	s.mu.Unlock()
	for _, fn := range calls {
		fn()
	}
}
