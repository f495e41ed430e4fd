// Package service answers the ResearchService over gRPC.
package service

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/fathom-research/fathom/platform/bus"
	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	"github.com/fathom-research/fathom/services/state/internal/engine"
	"github.com/fathom-research/fathom/services/state/internal/store"
)

// Bus is what the service needs of the bus.
type Bus interface {
	Listen(ctx context.Context, researchID string) (<-chan struct{}, error)
	CancelResearch(ctx context.Context, researchID string) error
	DeadTasks(ctx context.Context, researchID string) ([]bus.DeadTask, error)
	DeadTask(ctx context.Context, sequence uint64) (*bus.DeadTask, error)
	RemoveDeadTask(ctx context.Context, sequence uint64) error
}

// Settings are the service's limits and defaults.
type Settings struct {
	MaxQueries  int
	SearchLimit int
	// QuestionsWait is how long CreateQuestions waits for the questions.
	QuestionsWait time.Duration
	Prices        engine.Prices
}

// Service implements the ResearchService.
type Service struct {
	researchv1.UnsafeResearchServiceServer

	engine   *engine.Engine
	store    *store.Store
	bus      Bus
	settings Settings
	logger   *slog.Logger
	tracer   trace.Tracer
	draining chan struct{}
}

var _ researchv1.ResearchServiceServer = (*Service)(nil)

// New makes a Service.
func New(en *engine.Engine, st *store.Store, b Bus, settings Settings, logger *slog.Logger) *Service {
	return &Service{
		engine: en, store: st, bus: b, settings: settings, logger: logger,
		tracer:   otel.Tracer("github.com/fathom-research/fathom/services/state"),
		draining: make(chan struct{}),
	}
}

// Drain ends what waits, watchers above all, so that a stop does not wait for them:
// they come back to another replica. Call it once.
func (s *Service) Drain() { close(s.draining) }

func stopping() error { return status.Error(codes.Unavailable, "The server is stopping") }

const (
	tenantKey     = "fathom-tenant"
	defaultTenant = "default"
)

// tenantOf is whom the caller acts for. The gateway sets it after it checked who is
// asking; state trusts its network.
func tenantOf(ctx context.Context) string {
	values := metadata.ValueFromIncomingContext(ctx, tenantKey)
	if len(values) == 0 || values[0] == "" {
		return defaultTenant
	}
	return values[0]
}
