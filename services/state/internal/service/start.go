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
	standing := workflow.Running
	if r.GetValidateOnly() {
		// The key is for the start that may follow.
		key, standing = nil, workflow.Ready
	}
	values := startValues(r)
	err = s.engine.Start(ctx, tenantOf(ctx), id, engine.StartRequest{
		Prompt: r.GetInitialPrompt(), Questions: r.GetFollowupQuestions(), Values: values, Key: key,
		ValidateOnly: r.GetValidateOnly(),
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
		Status:         string(standing),
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

// estimate is what the research comes to when every query finds as many pages as it
// may and no answer has to be repaired, within its own budget.
func (s *Service) estimate(values store.Start) *researchv1.Estimate {
	budget := values.Budget
	work := workflow.Estimate(values.Depth, values.Breadth, s.settings.SearchLimit)
	queries := bounded(work.Queries, budget.Queries)
	plans := min(work.Plans, 1+queries)
	// A page that several queries find is read once and analyzed for each.
	analyses := queries * s.settings.SearchLimit
	input := float64(plans*planInput + analyses*analyzeInput + reportInput)
	output := float64(plans*planOutput + analyses*analyzeOutput + reportOutput)
	return &researchv1.Estimate{
		Queries: int32(queries), Pages: int32(bounded(analyses, budget.Pages)), ModelCalls: int32(plans + analyses + 1),
		ModelTokens: bounded(input+output, float64(budget.Tokens)),
		CostUsd:     bounded(s.settings.Prices.Cost(input, output), budget.CostUSD),
	}
}

// bounded is n within a budget, of which 0 is no bound.
func bounded[T int | float64](n, budget T) T {
	if budget == 0 {
		return n
	}
	return min(n, budget)
}
