// Package gateway is Fathom's door to the outside: REST, server-sent events, reports
// as documents, and a page for people. It keeps nothing; state answers everything.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"google.golang.org/grpc"

	"github.com/fathom-research/fathom/platform/health"
	"github.com/fathom-research/fathom/services/gateway/internal/backend"
	"github.com/fathom-research/fathom/services/gateway/internal/edge"
)

// Deps is what a gateway works with.
type Deps struct {
	// Conn leads to state; the caller keeps and closes it.
	Conn   *grpc.ClientConn
	Logger *slog.Logger
	// Metrics serves /metrics; nil leaves the route out.
	Metrics http.Handler
	// Listener is used instead of Config.Addr when it is set. Run closes it.
	Listener net.Listener
}

// Service serves REST.
type Service struct {
	cfg      Config
	log      *slog.Logger
	listener net.Listener
	health   *health.Health
	handler  http.Handler
	// closing is closed when streams of events shall end.
	closing chan struct{}
}

// New makes a gateway. It does not listen or connect yet.
func New(cfg Config, deps Deps) (*Service, error) {
	err := cfg.Validate()
	if err != nil {
		return nil, err
	}
	state := backend.New(deps.Conn, cfg.Timeout)
	s := &Service{
		cfg:      cfg,
		log:      deps.Logger,
		listener: deps.Listener,
		health:   health.New(deps.Metrics, map[string]health.Check{"state": state.Ready}),
		closing:  make(chan struct{}),
	}
	routes, err := s.routes(state)
	if err != nil {
		return nil, err
	}
	s.handler = otelhttp.NewHandler(edge.Wrap(routes, s.log), "gateway", otelhttp.WithFilter(traced))
	return s, nil
}

// traced leaves probes and the page's files out of traces.
func traced(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") }

// Server limits. There is no limit of the whole request: questions may take minutes
// and streams hours; bodies and answers have deadlines of their own.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
)

// Run serves until ctx ends. Then it is unready first, serves on for the drain
// delay, ends the streams of events, and lets the other requests finish within the
// grace period.
func (s *Service) Run(ctx context.Context) error {
	listener := s.listener
	if listener == nil {
		opened, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.cfg.Addr)
		if err != nil {
			return fmt.Errorf("listen on FATHOM_HTTP_ADDR: %w", err)
		}
		listener = opened
	}
	server := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	s.log.InfoContext(ctx, "serving", "addr", listener.Addr().String())

	select {
	case err := <-served:
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	err := s.drain(context.WithoutCancel(ctx), server)
	if serving := <-served; !errors.Is(serving, http.ErrServerClosed) {
		err = errors.Join(err, serving)
	}
	return err
}

func (s *Service) drain(ctx context.Context, server *http.Server) error {
	s.health.Drain()
	delay := time.NewTimer(s.cfg.DrainDelay)
	defer delay.Stop()
	<-delay.C
	close(s.closing)
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Grace)
	defer cancel()
	err := server.Shutdown(ctx)
	if err != nil {
		return errors.Join(fmt.Errorf("let running requests finish: %w", err), server.Close())
	}
	return nil
}
