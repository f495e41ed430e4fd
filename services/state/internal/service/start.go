package service

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	"github.com/fathom-research/fathom/services/state/internal/engine"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// StartResearch stores the answers and has the tree planned.
func (s *Service) StartResearch(ctx context.Context, r *researchv1.StartResearchRequest) (*researchv1.StartResearchResponse, error) {
	err := s.checkStart(r)
	if err != nil {
		return nil, err
	}
	id := r.GetResearchId()
	if id == "" {
		return nil, invalid("Research id cannot be empty")
	}
	if !store.ValidID(id) {
		return nil, invalid("Unknown research_id %.64q", id)
	}
	body := proto.CloneOf(r)
	body.IdempotencyKey = ""
	key, err := claim("start", r.GetIdempotencyKey(), body)
	if err != nil {
		return nil, s.answer(ctx, err, id)
	}
	values := startValues(r)
	err = s.engine.Start(ctx, tenantOf(ctx), id, engine.StartRequest{
		Prompt: r.GetInitialPrompt(), Questions: r.GetFollowupQuestions(), Values: values, Key: key,
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil, invalid("Unknown research_id %.64q", id)
	}
	if err != nil {
		return nil, s.answer(ctx, err, id)
	}
	return &researchv1.StartResearchResponse{
		ResearchId: id,
		// The same request again has the same answer, wherever the research is by then.
		Status:         string(workflow.Running),
		PlannedQueries: int32(values.PlannedQueries),
		Estimate:       s.estimate(values),
	}, nil
}

// What a model call takes, by experience: the estimate's tokens. Pages are cut to
// what their model can read, so the largest page does not count.
const (
	planInput, planOutput       = 3000, 600
	analyzeInput, analyzeOutput = 6000, 800
	reportInput, reportOutput   = 40000, 4000
)

func (s *Service) estimate(values store.Start) *researchv1.Estimate {
	work := workflow.Estimate(values.Depth, values.Breadth, s.settings.SearchLimit)
	input := float64(work.Plans*planInput + work.Analyses*analyzeInput + reportInput)
	output := float64(work.Plans*planOutput + work.Analyses*analyzeOutput + reportOutput)
	return &researchv1.Estimate{
		Queries: int32(work.Queries), Pages: int32(work.Pages), ModelCalls: int32(work.ModelCalls),
		ModelTokens: input + output, CostUsd: s.settings.Prices.Cost(input, output),
	}
}
