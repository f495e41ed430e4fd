package planner

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	"github.com/fathom-research/fathom/llm"
	"github.com/fathom-research/fathom/llm/builtin"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/planner/internal/prompt"
)

func (s *Service) queries(ctx context.Context, client llm.Client, task *workv1.QueriesTask) ([]*workv1.PlannedQuery, llm.Usage, error) {
	n := int(task.GetN())
	chosen := newSelection(n, (*workv1.PlannedQuery).GetText, task.GetTaken(), texts(task.GetChain(), (*workv1.ChainLink).GetQuery))
	var usage llm.Usage
	for round := 0; client != nil && round < rounds && chosen.missing() > 0; round++ {
		request := prompt.Queries(prompt.QueriesInput{
			Task: task, Missing: chosen.missing(), Kept: chosen.kept, Refused: chosen.refused,
			ContextTokens: s.config.LLM.ContextTokens,
		})
		answer, used, err := llm.Structured(ctx, client, request, checkQueries)
		usage = usage.Add(used)
		if unusable(err) {
			break
		}
		if err != nil {
			return nil, usage, err
		}
		for _, query := range answer.Queries {
			chosen.offer(&workv1.PlannedQuery{Text: query.Query, Objective: query.Objective})
		}
	}
	if chosen.missing() > 0 {
		s.toppedUp(ctx, client, chosen.missing())
		s.addBuiltin(task, chosen)
	}
	if chosen.missing() > 0 {
		return nil, usage, fault.Transient(fault.InvalidAnswer, "only %d of %d distinct queries could be made", len(chosen.kept), n)
	}
	return chosen.kept, usage, nil
}

// addBuiltin lets the built-in engine plan what is missing, for the same task and
// knowing what is there already.
func (s *Service) addBuiltin(task *workv1.QueriesTask, chosen *selection[*workv1.PlannedQuery]) {
	known := proto.CloneOf(task)
	if len(chosen.kept) > 0 || len(chosen.refused) > 0 {
		known.Taken = append(known.Taken, texts(chosen.kept, (*workv1.PlannedQuery).GetText)...)
		known.N = int32(chosen.missing() + spare)
	}
	s.offerBuiltin(known, chosen)
	if chosen.missing() > 0 {
		known.Taken = append(known.Taken, texts(chosen.kept, (*workv1.PlannedQuery).GetText)...)
		known.Taken = append(known.Taken, texts(chosen.refused, (*workv1.PlannedQuery).GetText)...)
		known.N = int32(chosen.missing() + spare)
		s.offerBuiltin(known, chosen)
	}
	chosen.settle()
}

func (s *Service) offerBuiltin(task *workv1.QueriesTask, chosen *selection[*workv1.PlannedQuery]) {
	for _, query := range builtin.Queries(task) {
		if query.GetText() != "" && query.GetObjective() != "" {
			chosen.offer(query)
		}
	}
}

func checkQueries(answer *prompt.QueriesAnswer) error {
	good := answer.Queries[:0]
	for _, query := range answer.Queries {
		query.Query, query.Objective = tidy(query.Query), tidy(query.Objective)
		if usable(query.Query, maxQuery) && query.Objective != "" {
			good = append(good, query)
		}
	}
	answer.Queries = good
	if len(good) == 0 {
		return errors.New("the list queries has no entry with both a query and an objective")
	}
	return nil
}
