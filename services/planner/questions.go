package planner

import (
	"context"
	"errors"

	"github.com/fathom-research/fathom/llm"
	"github.com/fathom-research/fathom/llm/builtin"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/planner/internal/prompt"
)

// rounds is how often a model is asked for what is still missing.
const rounds = 3

// spare is how many more than needed the built-in engine is asked for, since some of
// its texts may double what a model gave.
const spare = 4

func (s *Service) questions(ctx context.Context, client llm.Client, task *workv1.QuestionsTask) ([]string, llm.Usage, error) {
	n := int(task.GetN())
	chosen := newSelection(n, func(question string) string { return question })
	var usage llm.Usage
	for round := 0; client != nil && round < rounds && chosen.missing() > 0; round++ {
		request := prompt.Questions(task.GetPrompt(), chosen.missing(), chosen.kept, chosen.refused, s.config.LLM.ContextTokens)
		answer, used, err := llm.Structured(ctx, client, request, checkQuestions)
		usage = usage.Add(used)
		if unusable(err) {
			break
		}
		if err != nil {
			return nil, usage, err
		}
		for _, question := range answer.Questions {
			chosen.offer(question)
		}
	}
	if chosen.missing() > 0 {
		s.toppedUp(ctx, client, chosen.missing())
		for _, question := range builtin.Questions(task.GetPrompt(), n+spare) {
			chosen.offer(question)
		}
		chosen.settle()
	}
	if chosen.missing() > 0 {
		return nil, usage, fault.Transient(fault.InvalidAnswer, "only %d of %d distinct questions could be made", len(chosen.kept), n)
	}
	return chosen.kept, usage, nil
}

func checkQuestions(answer *prompt.QuestionsAnswer) error {
	good := answer.Questions[:0]
	for _, question := range answer.Questions {
		question = tidy(question)
		if usable(question, maxQuestion) {
			good = append(good, question)
		}
	}
	answer.Questions = good
	if len(good) == 0 {
		return errors.New("the list questions is empty")
	}
	return nil
}

// unusable reports whether err says that the model gave nothing that can be used;
// the built-in engine then does what is missing. Any other failure is the task's.
func unusable(err error) bool {
	var failure *fault.Error
	return errors.As(err, &failure) && failure.Code == fault.InvalidAnswer
}

func (s *Service) toppedUp(ctx context.Context, client llm.Client, missing int) {
	if client == nil {
		return
	}
	s.logger.WarnContext(ctx, "model gave too few distinct texts, the built-in engine adds the rest", "missing", missing)
}
