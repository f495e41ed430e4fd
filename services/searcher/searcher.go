// Package searcher is the worker that turns a query into ranked hits by asking a
// SearXNG instance.
package searcher

import (
	"context"
	"log/slog"
	"time"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/searcher/internal/provider"
)

// Deps is what a searcher works with.
type Deps struct {
	Bus    *bus.Bus
	Logger *slog.Logger
}

// Service searches. It keeps nothing between tasks.
type Service struct {
	bus      *bus.Bus
	log      *slog.Logger
	slots    int
	provider *provider.SearXNG
}

// New makes a searcher. It does not connect to SearXNG yet.
func New(cfg Config, deps Deps) (*Service, error) {
	err := cfg.Validate()
	if err != nil {
		return nil, err
	}
	base, err := cfg.base()
	if err != nil {
		return nil, err
	}
	gate := hostGate{bus: deps.Bus, limit: bus.Limit{
		Key:        "search:" + base.Host,
		Concurrent: cfg.HostConcurrency,
		Gap:        cfg.HostGap,
		Hold:       cfg.Timeout + holdSlack,
		Wait:       cfg.HostWait,
	}}
	return &Service{
		bus:   deps.Bus,
		log:   deps.Logger,
		slots: cfg.Concurrency,
		provider: provider.NewSearXNG(provider.Options{
			Base: base, Timeout: cfg.Timeout, Pages: cfg.Pages, Gate: gate,
		}),
	}, nil
}

// holdSlack is how much longer than its request a place may be held, so that a slow
// answer of NATS does not let another request in too early.
const holdSlack = 5 * time.Second

// Run serves search tasks until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	defer s.provider.Close()
	return s.bus.Work(ctx, bus.Worker{Kind: bus.Search, Slots: s.slots, Handle: s.Handle})
}

// A research wants at most 7 URLs of a query; more than maxLimit nobody can mean.
const (
	defaultLimit = 7
	maxLimit     = 100
)

// Handle does one search. It has no effects outside its result.
func (s *Service) Handle(ctx context.Context, task *workv1.Task) (*workv1.Result, error) {
	search := task.GetSearch()
	if search == nil {
		return nil, fault.Permanent(fault.Malformed, "task %s is no search", task.GetTaskId())
	}
	limit := int(search.GetLimit())
	if limit <= 0 {
		limit = defaultLimit
	}
	answer, err := s.provider.Search(ctx, provider.Query{
		Text:       search.GetQuery(),
		Language:   search.GetLanguage(),
		TimeRange:  search.GetTimeRange(),
		Categories: search.GetCategories(),
		SafeSearch: search.GetSafeSearch(),
		Limit:      min(limit, maxLimit),
	})
	if err != nil {
		return nil, err
	}
	s.log.DebugContext(ctx, "searched", "research_id", task.GetResearchId(), "task_id", task.GetTaskId(),
		"query", search.GetQuery(), "hits", len(answer.Hits), "unresponsive", answer.Unresponsive)
	return &workv1.Result{Payload: &workv1.Result_Search{Search: &workv1.SearchResult{
		Hits:         answer.Hits,
		Unresponsive: answer.Unresponsive,
	}}}, nil
}

// hostGate is the rate limit of the instance's host over all pods.
type hostGate struct {
	bus   *bus.Bus
	limit bus.Limit
}

func (g hostGate) Enter(ctx context.Context) (func(), error) { return g.bus.Take(ctx, g.limit) }

func (g hostGate) Penalize(ctx context.Context, until time.Time) error {
	return g.bus.Penalize(ctx, g.limit.Key, until)
}
