// Package planner asks the questions before a research and plans its queries, level
// by level.
package planner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/fathom-research/fathom/llm/provider"
	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	"github.com/fathom-research/fathom/platform/run"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// Deps are what the planner works with.
type Deps struct {
	Bus    *bus.Bus
	Logger *slog.Logger
}

// Service is the planner. It is safe for concurrent use.
type Service struct {
	config Config
	bus    *bus.Bus
	logger *slog.Logger
	model  *provider.Model
}

// New makes a planner. It does not talk to anything yet.
func New(config Config, deps Deps) (*Service, error) {
	if deps.Bus == nil || deps.Logger == nil {
		return nil, errors.New("planner: a bus and a logger are needed")
	}
	model, err := provider.OpenModel(config.LLM, deps.Bus)
	if err != nil {
		return nil, fmt.Errorf("planner: %w", err)
	}
	return &Service{config: config, bus: deps.Bus, logger: deps.Logger, model: model}, nil
}

// Run serves tasks until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	defer s.model.Close()
	parts := make([]run.Part, 0, len(s.config.Kinds))
	for _, kind := range s.config.Kinds {
		parts = append(parts, run.Part{Name: string(kind), Run: func(ctx context.Context) error {
			return s.bus.Work(ctx, bus.Worker{Kind: kind, Slots: s.config.LLM.Slots(s.config.Concurrency), Handle: s.Handle})
		}})
	}
	return run.All(ctx, parts...)
}

// Handle does one task. It has no effects outside its result but the journal's.
func (s *Service) Handle(ctx context.Context, task *workv1.Task) (*workv1.Result, error) {
	client := s.model.ForTask(task)
	switch payload := task.GetPayload().(type) {
	case *workv1.Task_Questions:
		questions, usage, err := s.questions(ctx, client, payload.Questions)
		result := &workv1.Result{Usage: usage.Proto()}
		if err != nil {
			return result, fmt.Errorf("ask questions: %w", err)
		}
		result.Payload = &workv1.Result_Questions{Questions: &workv1.QuestionsResult{Questions: questions}}
		return result, nil
	case *workv1.Task_Queries:
		queries, usage, err := s.queries(ctx, client, payload.Queries)
		result := &workv1.Result{Usage: usage.Proto()}
		if err != nil {
			return result, fmt.Errorf("plan queries: %w", err)
		}
		result.Payload = &workv1.Result_Queries{Queries: &workv1.QueriesResult{Queries: queries}}
		return result, nil
	default:
		return nil, fault.Permanent(fault.Malformed, "the planner does not do tasks of kind %q", bus.KindOf(task))
	}
}
