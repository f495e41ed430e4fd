// Package reporter writes a research's report from its extractions alone, and lets
// nothing into it that they do not bear out.
package reporter

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
	"github.com/fathom-research/fathom/services/reporter/internal/evidence"
	"github.com/fathom-research/fathom/services/reporter/internal/gate"
)

const (
	defaultWords   = 1500
	defaultSources = 25
)

// Deps are what the reporter works with.
type Deps struct {
	Bus    *bus.Bus
	Logger *slog.Logger
}

// Service is the reporter. It is safe for concurrent use.
type Service struct {
	config Config
	bus    *bus.Bus
	logger *slog.Logger
	model  *provider.Model
}

// New makes a reporter. It does not talk to anything yet.
func New(config Config, deps Deps) (*Service, error) {
	if deps.Bus == nil || deps.Logger == nil {
		return nil, errors.New("reporter: a bus and a logger are needed")
	}
	model, err := provider.OpenModel(config.LLM, deps.Bus)
	if err != nil {
		return nil, fmt.Errorf("reporter: %w", err)
	}
	return &Service{config: config, bus: deps.Bus, logger: deps.Logger, model: model}, nil
}

// Run serves tasks until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	defer s.model.Close()
	return s.bus.Work(ctx, bus.Worker{Kind: bus.Report, Slots: s.config.LLM.Slots(s.config.Concurrency), Handle: s.Handle})
}

// Handle writes one report. With an error, the result carries what could be written.
// It has no effects outside its result but the journal's.
func (s *Service) Handle(ctx context.Context, task *workv1.Task) (*workv1.Result, error) {
	report := task.GetReport()
	if report == nil {
		return nil, fault.Permanent(fault.Malformed, "the reporter does not do tasks of kind %q", bus.KindOf(task))
	}
	client := s.model.ForTask(task)
	if client == nil || !anything(report) {
		// What the built-in engine says of a research that found nothing is all that
		// there is to say: no model is needed for it.
		all := evidence.Collect(report.GetQueries(), 0)
		written := gate.Apply(builtin.Report(report), all)
		return &workv1.Result{Payload: &workv1.Result_Report{Report: written}, Usage: &workv1.Usage{}}, nil
	}
	written, usage, err := s.write(ctx, client, report)
	result := &workv1.Result{Usage: usage.Proto()}
	if written != nil {
		result.Payload = &workv1.Result_Report{Report: written}
	}
	if err != nil {
		return result, fmt.Errorf("write the report: %w", err)
	}
	return result, nil
}

func anything(report *workv1.ReportTask) bool {
	for _, query := range report.GetQueries() {
		if len(query.GetExtractions()) > 0 {
			return true
		}
	}
	return false
}

func orDefault(value int32, fallback int) int {
	if value > 0 {
		return int(value)
	}
	return fallback
}
