package state

import (
	"context"
	"time"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// applyTime bounds one transaction, so that a database that hangs gives the result
// back.
const applyTime = 30 * time.Second

// applyResults applies results until ctx ends. While the bus can't be reached it
// tries again every second: the process has other things to do meanwhile.
func (s *Service) applyResults(ctx context.Context) error {
	for ctx.Err() == nil {
		err := s.deps.Bus.Results(ctx, s.cfg.ResultSlots, s.apply)
		if err != nil && ctx.Err() == nil {
			s.deps.Logger.WarnContext(ctx, "no results to be had", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return nil
}

func (s *Service) apply(ctx context.Context, result *workv1.Result) error {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, applyTime)
	defer cancel()
	outcome, err := s.engine.Apply(ctx, result)
	s.metrics.applied(ctx, result, outcome, err, time.Since(begun))
	if err != nil {
		return err
	}
	if result.GetFailure() != nil {
		s.deps.Logger.InfoContext(ctx, "task failed", "research_id", result.GetResearchId(), "task_id", result.GetTaskId(),
			"kind", result.GetKind(), "attempt", result.GetAttempt(), "outcome", string(outcome),
			"code", result.GetFailure().GetCode(), "error", result.GetFailure().GetMessage())
	}
	return nil
}
