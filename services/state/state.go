// Package state is the heart of Fathom: the only decider and the only owner of the
// database. It applies what workers report, publishes what is to be done next, and
// answers the ResearchService.
package state

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"go.opentelemetry.io/otel"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/faultpoint"
	"github.com/fathom-research/fathom/platform/health"
	"github.com/fathom-research/fathom/platform/rpc"
	"github.com/fathom-research/fathom/platform/run"
	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	"github.com/fathom-research/fathom/services/state/internal/engine"
	"github.com/fathom-research/fathom/services/state/internal/gauge"
	"github.com/fathom-research/fathom/services/state/internal/message"
	"github.com/fathom-research/fathom/services/state/internal/relay"
	"github.com/fathom-research/fathom/services/state/internal/service"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/sweep"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// patience is how long Run waits for a database that is not up yet.
const patience = 2 * time.Minute

// Deps are what a Service works with.
type Deps struct {
	Bus    *bus.Bus
	Logger *slog.Logger
	// Listener serves gRPC in place of the configured address when it is set.
	Listener net.Listener
}

// Service is one replica of state. Any number of them may share a database.
type Service struct {
	cfg       Config
	deps      Deps
	store     *store.Store
	engine    *engine.Engine
	relay     *relay.Relay
	sweeper   *sweep.Sweeper
	research  *service.Service
	announcer *announcer
	metrics   *metrics
	swept     chan struct{}
}

// New makes a Service. It talks to nobody before Run.
func New(cfg Config, deps Deps) (*Service, error) {
	err := cfg.Validate()
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	st, err := store.Open(context.Background(), cfg.DatabaseURL, cfg.DatabaseConnections, store.Hooks{
		BeforeCommit: pass("commit.before"), AfterCommit: pass("commit.after"),
	})
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	measured, err := newMetrics()
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	due, swept := make(chan struct{}, 1), make(chan struct{}, 1)
	prices := engine.Prices{Input: cfg.PriceInput, Output: cfg.PriceOutput}
	announcer := newAnnouncer(deps.Bus.Announce, deps.Logger)
	en := engine.New(st, engine.Settings{
		Retry:       workflow.RetryPolicy{Attempts: cfg.Attempts, Base: cfg.Backoff, Max: cfg.BackoffMax},
		SearchLimit: cfg.SearchLimit,
		DomainPages: cfg.DomainPages,
		Deadline:    cfg.Deadline,
		TokenLimits: map[bus.Kind]int64{
			bus.Questions: cfg.TokensQuestions, bus.Queries: cfg.TokensQueries,
			bus.Analyze: cfg.TokensAnalyze, bus.Report: cfg.TokensReport,
		},
		Prices: prices,
		Tenant: cfg.tenantBudget(),
	}, deps.Logger, func(researchID string, changed store.Changed) {
		if changed.Events {
			announcer.tell(researchID)
		}
		if changed.Tasks {
			nudge(due)
		}
	})
	builder := message.NewBuilder(st, message.Limits{
		Times: cfg.times(), Hits: cfg.SearchLimit, Words: cfg.ReportWords, Sources: cfg.ReportSources,
	})
	return &Service{
		cfg: cfg, deps: deps, store: st, engine: en, announcer: announcer, metrics: measured, swept: swept,
		relay: &relay.Relay{
			Outbox: st, Builder: builder, Publisher: deps.Bus, Marker: en, Logger: deps.Logger, Wake: due,
		},
		sweeper: &sweep.Sweeper{
			Bus: deps.Bus, Store: st, Engine: en, Builder: builder, Logger: deps.Logger,
			Every: cfg.SweepEvery, Quiet: cfg.LostAfter, ReportGrace: cfg.ReportGrace, Wake: swept,
			RawLifetime: cfg.RawLifetime,
		},
		research: service.New(en, st, deps.Bus, service.Settings{
			MaxQueries: cfg.MaxQueries, SearchLimit: cfg.SearchLimit, QuestionsWait: cfg.QuestionsWait,
			Prices: prices,
		}, deps.Logger),
	}, nil
}

// pass lets the chaos harness end the process at a commit.
func pass(point string) func(context.Context) error {
	return func(context.Context) error {
		faultpoint.Pass(point)
		return nil
	}
}

// Checks are the readiness checks of a process that runs the service.
func (s *Service) Checks() map[string]health.Check {
	return map[string]health.Check{"database": s.store.Ping}
}

// Run brings the schema up to date and serves until ctx ends. A Service runs once.
func (s *Service) Run(ctx context.Context) error {
	defer s.store.Close()
	err := s.migrate(ctx)
	if err != nil {
		return err
	}
	if s.cfg.tenantBudget() != (store.Budget{}) {
		err := s.store.CountTenants(ctx)
		if err != nil {
			return err
		}
	}
	gauges, err := gauge.Register(otel.Meter(scope), s.store)
	if err != nil {
		return err
	}
	defer func() { _ = gauges.Unregister() }()
	listener, err := s.listen(ctx)
	if err != nil {
		return err
	}
	server := rpc.NewServer()
	researchv1.RegisterResearchServiceServer(server, s.research)
	s.deps.Bus.OnReconnect(func() { nudge(s.swept) })
	context.AfterFunc(ctx, s.research.Drain)
	s.deps.Logger.InfoContext(ctx, "state serves", "addr", listener.Addr().String())
	return run.All(ctx,
		run.Part{Name: "grpc", Run: func(ctx context.Context) error { return rpc.Serve(ctx, server, listener, 5*time.Second) }},
		run.Part{Name: "relay", Run: s.relay.Run},
		run.Part{Name: "sweeper", Run: s.sweeper.Run},
		run.Part{Name: "announcer", Run: s.announcer.run},
		run.Part{Name: "results", Run: s.applyResults},
	)
}

// migrate waits for a database that is starting; one that refuses is an error.
func (s *Service) migrate(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := store.Migrate(ctx, s.cfg.DatabaseURL)
		if err == nil || !store.Unreachable(err) {
			return err
		}
		s.deps.Logger.WarnContext(ctx, "waiting for the database", "error", err)
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(time.Second):
		}
	}
}

func (s *Service) listen(ctx context.Context) (net.Listener, error) {
	if s.deps.Listener != nil {
		return s.deps.Listener, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("listen for gRPC on %s: %w", s.cfg.Addr, err)
	}
	return listener, nil
}
