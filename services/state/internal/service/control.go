package service

import (
	"context"
	"errors"
	"time"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// telling bounds how long a request waits for the bus after its change is committed.
const telling = 3 * time.Second

// CancelResearch ends a research and stops its work.
func (s *Service) CancelResearch(ctx context.Context, r *researchv1.CancelResearchRequest) (*researchv1.ResearchState, error) {
	answer, err := s.control(ctx, r.GetResearchId(), s.engine.Cancel)
	if err != nil {
		return nil, err
	}
	s.stopWork(ctx, r.GetResearchId())
	return answer, nil
}

// PauseResearch keeps new work from beginning.
func (s *Service) PauseResearch(ctx context.Context, r *researchv1.PauseResearchRequest) (*researchv1.ResearchState, error) {
	return s.control(ctx, r.GetResearchId(), s.engine.Pause)
}

// ResumeResearch lets a paused research go on.
func (s *Service) ResumeResearch(ctx context.Context, r *researchv1.ResumeResearchRequest) (*researchv1.ResearchState, error) {
	return s.control(ctx, r.GetResearchId(), s.engine.Resume)
}

// DeleteResearch removes all that is stored of a research and stops its work.
func (s *Service) DeleteResearch(ctx context.Context, r *researchv1.DeleteResearchRequest) (*researchv1.DeleteResearchResponse, error) {
	_, err := s.control(ctx, r.GetResearchId(), func(ctx context.Context, tenant, id string) (workflow.Status, error) {
		return "", s.engine.Delete(ctx, tenant, id)
	})
	if err != nil {
		return nil, err
	}
	s.stopWork(ctx, r.GetResearchId())
	return &researchv1.DeleteResearchResponse{}, nil
}

type change func(ctx context.Context, tenant, researchID string) (workflow.Status, error)

func (s *Service) control(ctx context.Context, id string, do change) (*researchv1.ResearchState, error) {
	err := known(id)
	if err != nil {
		return nil, err
	}
	status, err := do(ctx, tenantOf(ctx), id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, unknown(id)
	}
	if err != nil {
		return nil, s.answer(ctx, err, id)
	}
	return &researchv1.ResearchState{ResearchId: id, Status: string(status)}, nil
}

// stopWork saves what the workers would still do in vain. The research is ended
// without it.
func (s *Service) stopWork(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), telling)
	defer cancel()
	err := s.bus.CancelResearch(ctx, id)
	if err != nil {
		s.logger.WarnContext(ctx, "could not stop running work", "research_id", id, "error", err)
	}
}
