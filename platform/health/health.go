// Package health serves /livez, /readyz and /metrics of a process.
package health

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Check reports why a part can't serve now, or nil.
type Check func(ctx context.Context) error

// Health answers probes. A process is live while it runs, and ready while every
// check passes and it is not draining.
type Health struct {
	checks   map[string]Check
	metrics  http.Handler
	draining atomic.Bool
}

// New makes a Health with named readiness checks. metrics may be nil.
func New(metrics http.Handler, checks map[string]Check) *Health {
	return &Health{checks: checks, metrics: metrics}
}

// Drain makes the process unready from now on, so that balancers stop sending
// before it stops serving.
func (h *Health) Drain() { h.draining.Store(true) }

// Register adds the three routes to mux.
func (h *Health) Register(mux *http.ServeMux) {
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", h.ready)
	if h.metrics != nil {
		mux.Handle("GET /metrics", h.metrics)
	}
}

func (h *Health) ready(w http.ResponseWriter, r *http.Request) {
	if h.draining.Load() {
		http.Error(w, "draining", http.StatusServiceUnavailable)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	var failures []error
	for name, check := range h.checks {
		err := check(ctx)
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", name, err))
		}
	}
	if len(failures) > 0 {
		http.Error(w, errors.Join(failures...).Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// Serve answers on addr until ctx ends.
func (h *Health) Serve(ctx context.Context, addr string) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen for probes on %s: %w", addr, err)
	}
	mux := http.NewServeMux()
	h.Register(mux)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		h.Drain()
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(closing)
	}()
	err = server.Serve(listener)
	if errors.Is(err, http.ErrServerClosed) {
		<-stopped
		return nil
	}
	return fmt.Errorf("serve probes on %s: %w", addr, err)
}
