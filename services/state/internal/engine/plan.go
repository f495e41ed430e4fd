package engine

import (
	"context"
	"strings"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// questions stores the follow-up questions.
func (e *Engine) questions(ctx context.Context, tx *store.Tx, task store.Task, result *workv1.QuestionsResult) (*fault.Error, error) {
	questions := result.GetQuestions()
	if len(questions) != tx.R.NumQuestions {
		return fault.Transient(fault.InvalidAnswer, "%d questions instead of %d", len(questions), tx.R.NumQuestions), nil
	}
	err := done(ctx, tx, task)
	if err != nil {
		return nil, err
	}
	err = tx.SaveQuestions(ctx, questions)
	if err != nil {
		return nil, err
	}
	// What waits for the person's answers has no deadline.
	tx.R.Deadline = nil
	return nil, e.follow(ctx, tx, workflow.Decide(workflow.Situation{Happening: workflow.QuestionsAsked}), nil, "", "")
}

// queries stores the root plan, or a query's children, and has each searched.
func (e *Engine) queries(ctx context.Context, tx *store.Tx, task store.Task, result *workv1.QueriesResult) (*fault.Error, error) {
	parent, want, err := planOf(ctx, tx, task)
	if err != nil {
		return nil, err
	}
	planned := result.GetQueries()
	if len(planned) != want {
		return fault.Transient(fault.InvalidAnswer, "%d queries instead of %d", len(planned), want), nil
	}
	children := make([]store.NewQuery, len(planned))
	for i, p := range planned {
		if strings.TrimSpace(p.GetText()) == "" {
			return fault.Transient(fault.InvalidAnswer, "query %d is empty", i+1), nil
		}
		children[i] = store.NewQuery{ID: store.NewID(), Text: p.GetText(), Objective: p.GetObjective()}
	}
	err = done(ctx, tx, task)
	if err != nil {
		return nil, err
	}
	depth := 1
	if parent != nil {
		depth = parent.Depth + 1
	}
	left, short, err := e.scarcest(ctx, tx, purse.queries)
	if err != nil {
		return nil, err
	}
	if left < len(children) {
		limited(tx, short)
		children = children[:left]
	}
	tx.R.QueriesMade += len(children)
	err = tx.InsertQueries(ctx, task.QueryID, depth, want, children)
	if err != nil {
		return nil, err
	}
	for ordinal, child := range children {
		tx.Tell(store.Event{
			Type: "query.planned", QueryID: child.ID, ParentQueryID: task.QueryID,
			QueryText: child.Text, Depth: depth, Ordinal: ordinal,
		})
	}
	s := situation(tx, workflow.Planned, parent)
	s.Children = len(children)
	next := workflow.Decide(s)
	if next.Search {
		tasks := make([]store.Task, len(children))
		for i, child := range children {
			tasks[i] = store.Task{Kind: bus.Search, QueryID: child.ID}
		}
		err := tx.AddTasks(ctx, tasks...)
		if err != nil {
			return nil, err
		}
	}
	return nil, e.follow(ctx, tx, next, parent, "", "")
}

// planFailed goes on without a query's children. Without a root plan nothing can go on.
func (e *Engine) planFailed(ctx context.Context, tx *store.Tx, task store.Task, code, message string) error {
	parent, _, err := planOf(ctx, tx, task)
	if err != nil {
		return err
	}
	return e.follow(ctx, tx, workflow.Decide(situation(tx, workflow.PlanFailed, parent)), parent, code, message)
}

// planOf reads whose children a queries task is to plan, nil for the root, and how many.
func planOf(ctx context.Context, tx *store.Tx, task store.Task) (*store.Query, int, error) {
	if task.QueryID == "" {
		return nil, tx.R.Breadth, nil
	}
	parent, err := tx.Query(ctx, task.QueryID)
	if err != nil {
		return nil, 0, err
	}
	return &parent, workflow.Children(parent.Breadth), nil
}
