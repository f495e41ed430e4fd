// Package analyzer finds what a page says about a query's objective: claims, each
// with the words of the page that make it.
package analyzer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/fathom-research/fathom/llm/builtin"
	"github.com/fathom-research/fathom/llm/provider"
	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// Deps are what the analyzer works with.
type Deps struct {
	Bus    *bus.Bus
	Logger *slog.Logger
}

// Service is the analyzer. It is safe for concurrent use.
type Service struct {
	config Config
	bus    *bus.Bus
	logger *slog.Logger
	model  *provider.Model
}

// New makes an analyzer. It does not talk to anything yet.
func New(config Config, deps Deps) (*Service, error) {
	if deps.Bus == nil || deps.Logger == nil {
		return nil, errors.New("analyzer: a bus and a logger are needed")
	}
	model, err := provider.OpenModel(config.LLM, deps.Bus)
	if err != nil {
		return nil, fmt.Errorf("analyzer: %w", err)
	}
	return &Service{config: config, bus: deps.Bus, logger: deps.Logger, model: model}, nil
}

// Run serves tasks until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	defer s.model.Close()
	return s.bus.Work(ctx, bus.Worker{Kind: bus.Analyze, Slots: s.config.LLM.Slots(s.config.Concurrency), Handle: s.Handle})
}

// Handle analyzes one page. It has no effects outside its result but the journal's.
func (s *Service) Handle(ctx context.Context, task *workv1.Task) (*workv1.Result, error) {
	page := task.GetAnalyze()
	if page == nil {
		return nil, fault.Permanent(fault.Malformed, "the analyzer does not do tasks of kind %q", bus.KindOf(task))
	}
	client := s.model.ForTask(task)
	if client == nil {
		found := builtin.Extract(page)
		located, dropped := verbatim(page.GetText(), found.GetExtractions())
		found.Extractions, found.Unlocated = located, found.GetUnlocated()+dropped
		return &workv1.Result{Payload: &workv1.Result_Analyze{Analyze: found}, Usage: &workv1.Usage{}}, nil
	}
	found, usage, err := s.extract(ctx, client, page)
	result := &workv1.Result{Usage: usage.Proto()}
	if err != nil {
		return result, fmt.Errorf("analyze %s: %w", page.GetUrl(), err)
	}
	result.Payload = &workv1.Result_Analyze{Analyze: found}
	return result, nil
}

// verbatim keeps the extractions whose quote is exactly what stands at its offsets,
// and counts the others.
func verbatim(text string, extractions []*workv1.Extraction) ([]*workv1.Extraction, int32) {
	kept := extractions[:0]
	var dropped int32
	for _, e := range extractions {
		start, end := int(e.GetStart()), int(e.GetEnd())
		if start < 0 || start >= end || end > len(text) || text[start:end] != e.GetQuote() {
			dropped++
			continue
		}
		kept = append(kept, e)
	}
	return kept, dropped
}
