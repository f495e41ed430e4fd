// Package message builds the body of a task from the references of its row, when it
// is published: rows stay small, and a task carries what is known by then.
package message

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/fathom-research/fathom/platform/bus"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// Limits bound the tasks.
type Limits struct {
	// Times is how long a try of each kind may take.
	Times map[bus.Kind]time.Duration
	// Hits is the most hits of a search.
	Hits int
	// Words and Sources bound a report whose research has no bounds of its own.
	Words   int
	Sources int
}

// Builder makes messages. It is safe for concurrent use.
type Builder struct {
	store  *store.Store
	limits Limits
}

// NewBuilder makes a Builder.
func NewBuilder(st *store.Store, limits Limits) *Builder {
	return &Builder{store: st, limits: limits}
}

// Build makes the message of a task. It is store.ErrNotFound when what the task
// refers to was deleted.
func (b *Builder) Build(ctx context.Context, task store.Task) (*workv1.Task, error) {
	message := &workv1.Task{
		ResearchId: task.ResearchID,
		TaskId:     task.ID,
		Tenant:     task.Tenant,
		Attempt:    int32(task.Attempt),
		Delivery:   int32(task.Delivery),
		TimeLimit:  durationpb.New(b.limits.Times[task.Kind]),
		TokenLimit: task.Reserved,
	}
	err := b.fill(ctx, task, message)
	if err != nil {
		return nil, fmt.Errorf("build %s task %s: %w", task.Kind, task.ID, err)
	}
	return message, nil
}

func (b *Builder) fill(ctx context.Context, task store.Task, message *workv1.Task) error {
	switch task.Kind {
	case bus.Questions:
		return b.questions(ctx, task, message)
	case bus.Queries:
		return b.queries(ctx, task, message)
	case bus.Search:
		return b.search(ctx, task, message)
	case bus.Scrape:
		return b.scrape(ctx, task, message)
	case bus.Analyze:
		return b.analyze(ctx, task, message)
	case bus.Report:
		return b.report(ctx, task, message)
	default:
		return fmt.Errorf("unknown kind %q", task.Kind)
	}
}

func (b *Builder) questions(ctx context.Context, task store.Task, message *workv1.Task) error {
	overview, err := b.store.Overview(ctx, task.Tenant, task.ResearchID)
	if err != nil {
		return err
	}
	message.Payload = &workv1.Task_Questions{Questions: &workv1.QuestionsTask{
		Prompt: overview.Prompt, N: int32(overview.NumQuestions),
	}}
	return nil
}

func (b *Builder) queries(ctx context.Context, task store.Task, message *workv1.Task) error {
	overview, err := b.store.Overview(ctx, task.Tenant, task.ResearchID)
	if err != nil {
		return err
	}
	body := &workv1.QueriesTask{
		Prompt: overview.Prompt, Clarifications: clarifications(overview.Dialogue), N: int32(overview.Breadth),
	}
	message.Payload = &workv1.Task_Queries{Queries: body}
	if task.QueryID == "" {
		return nil
	}
	body.Taken, err = b.store.QueryTexts(ctx, task.Tenant, task.ResearchID)
	if err != nil {
		return err
	}
	chain, err := b.store.Chain(ctx, task.Tenant, task.QueryID)
	if err != nil {
		return err
	}
	body.N = int32(workflow.Children(chain[len(chain)-1].Breadth))
	for _, link := range chain {
		part := &workv1.ChainLink{Query: link.Text, Objective: link.Objective}
		for _, f := range link.Findings {
			part.Extractions = append(part.Extractions, extraction(f))
		}
		body.Chain = append(body.Chain, part)
	}
	return nil
}

func (b *Builder) search(ctx context.Context, task store.Task, message *workv1.Task) error {
	material, err := b.store.SearchMaterial(ctx, task.Tenant, task.QueryID)
	if err != nil {
		return err
	}
	message.Payload = &workv1.Task_Search{Search: &workv1.SearchTask{
		Query: material.Text, Limit: int32(b.limits.Hits), Language: material.Language,
		TimeRange: material.TimeRange, Categories: material.Categories, SafeSearch: int32(material.SafeSearch),
	}}
	return nil
}

func (b *Builder) scrape(ctx context.Context, task store.Task, message *workv1.Task) error {
	url, err := b.store.DocumentURL(ctx, task.Tenant, task.DocumentID)
	if err != nil {
		return err
	}
	message.Payload = &workv1.Task_Scrape{Scrape: &workv1.ScrapeTask{Url: url}}
	return nil
}

func (b *Builder) analyze(ctx context.Context, task store.Task, message *workv1.Task) error {
	material, err := b.store.AnalyzeMaterial(ctx, task.Tenant, task.SiteID)
	if err != nil {
		return err
	}
	page, err := decodePage(material.Page)
	if err != nil {
		return err
	}
	message.Payload = &workv1.Task_Analyze{Analyze: &workv1.AnalyzeTask{
		Prompt: material.Prompt, Query: material.Query, Objective: material.Objective,
		Url: material.URL, Title: material.Title, Published: timestamp(material.Published),
		Text: material.Content, Sections: page.GetSections(), Language: material.Language,
	}}
	return nil
}
