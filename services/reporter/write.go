package reporter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/fathom-research/fathom/llm"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/reporter/internal/draft"
	"github.com/fathom-research/fathom/services/reporter/internal/evidence"
	"github.com/fathom-research/fathom/services/reporter/internal/prompt"
)

const (
	// sectionWords is how long a section is meant to be, which gives their number.
	sectionWords = 250
	mostSections = 8
	// bodyShare is what the sections have of all words; the rest is the summary's.
	bodyShare = 0.85
	// slack is how much longer than asked a report may get before it is cut.
	slack = 1.15
)

// writing is one report on its way.
type writing struct {
	service *Service
	client  llm.Client
	task    *workv1.ReportTask
	set     *evidence.Set
	report  *draft.Report
	dropped int

	mu    sync.Mutex
	usage llm.Usage
}

// write makes the report: outline, sections side by side, check and repair, summary.
// When a call fails after some sections were written, those are returned with it.
func (s *Service) write(ctx context.Context, client llm.Client, task *workv1.ReportTask) (*workv1.ReportResult, llm.Usage, error) {
	task = proto.CloneOf(task)
	task.Words = int32(orDefault(task.GetWords(), defaultWords))
	task.Sources = int32(orDefault(task.GetSources(), defaultSources))
	w := &writing{
		service: s, client: client, task: task,
		set:    evidence.Collect(task.GetQueries(), int(task.GetSources())),
		report: &draft.Report{},
	}
	plan, err := w.outline(ctx)
	if err != nil {
		return nil, w.usage, err
	}
	err = w.sections(ctx, plan)
	if err == nil {
		err = w.finish(ctx)
	} else {
		// What was written must still pass the check, though nothing can be repaired.
		w.drop()
	}
	if len(w.report.Sections) == 0 && err != nil {
		return nil, w.usage, err
	}
	w.report.Shorten(int(float64(task.GetWords()) * slack))
	w.addNotes(err)
	return w.report.Render(w.set, w.dropped), w.usage, err
}

func (w *writing) finish(ctx context.Context) error {
	err := w.repair(ctx)
	w.drop()
	if err != nil {
		return err
	}
	if len(w.report.Sections) == 0 {
		w.fallBack()
		return nil
	}
	return w.summarize(ctx)
}

func (w *writing) outline(ctx context.Context) ([]prompt.Heading, error) {
	sections := min((int(w.task.GetWords())+sectionWords-1)/sectionWords, mostSections)
	request := prompt.Outline(w.task, spread(w.set.Items()), sections, w.service.config.LLM.ContextTokens)
	answer, used, err := llm.Structured(ctx, w.client, request, checkOutline)
	w.spend(used)
	switch {
	case isUnusable(err):
		answer = plainOutline(w.task, sections)
	case err != nil:
		return nil, fmt.Errorf("plan its sections: %w", err)
	}
	w.report.Title = title(answer.Title, w.task.GetPrompt())
	return answer.Sections[:min(len(answer.Sections), sections)], nil
}

func checkOutline(answer *prompt.OutlineAnswer) error {
	seen := make(map[string]bool)
	kept := answer.Sections[:0]
	for _, section := range answer.Sections {
		section.Heading = oneLine(section.Heading)
		section.Focus = oneLine(section.Focus)
		key := strings.ToLower(section.Heading)
		if section.Heading == "" || seen[key] {
			continue
		}
		seen[key] = true
		kept = append(kept, section)
	}
	answer.Sections = kept
	if len(kept) == 0 {
		return errors.New("the outline has no section with a heading")
	}
	return nil
}

// plainOutline follows the research's own first queries when no plan can be had.
func plainOutline(task *workv1.ReportTask, sections int) prompt.OutlineAnswer {
	var answer prompt.OutlineAnswer
	for _, query := range task.GetQueries() {
		if query.GetDepth() <= 1 && len(answer.Sections) < sections {
			answer.Sections = append(answer.Sections, prompt.Heading{Heading: oneLine(query.GetText()), Focus: oneLine(query.GetObjective())})
		}
	}
	if len(answer.Sections) == 0 {
		answer.Sections = []prompt.Heading{{Heading: "Findings", Focus: "All that was found."}}
	}
	return answer
}

// sections writes the sections side by side. Each has its own order of calls in the
// journal. Those that were written are kept when one fails.
func (w *writing) sections(ctx context.Context, plan []prompt.Heading) error {
	shares := assign(plan, w.set.Items())
	plan, shares = withEvidence(plan, shares)
	words := int(float64(w.task.GetWords()) * bodyShare / float64(max(len(plan), 1)))
	written := make([]draft.Section, len(plan))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(w.service.config.Sections)
	for i := range plan {
		group.Go(func() error {
			request := prompt.Section(w.task, plan, i, shares[i], words, w.service.config.LLM.ContextTokens)
			client := llm.Fork(w.client, fmt.Sprintf("section%d", i))
			answer, used, err := llm.Structured(ctx, client, request, checkSection)
			w.spend(used)
			if isUnusable(err) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("write the section %q: %w", plan[i].Heading, err)
			}
			written[i] = sectionOf(plan[i].Heading, answer)
			return nil
		})
	}
	err := group.Wait()
	for _, section := range written {
		if len(section.Paragraphs) > 0 {
			w.report.Sections = append(w.report.Sections, section)
		}
	}
	return err
}

func checkSection(answer *prompt.SectionAnswer) error {
	for _, paragraph := range answer.Paragraphs {
		for _, sentence := range paragraph.Sentences {
			if oneLine(sentence.Sentence) != "" {
				return nil
			}
		}
	}
	return errors.New("the section has no sentence")
}

func sectionOf(heading string, answer prompt.SectionAnswer) draft.Section {
	section := draft.Section{Heading: heading}
	for _, given := range answer.Paragraphs {
		var paragraph draft.Paragraph
		for _, sentence := range given.Sentences {
			paragraph.Sentences = append(paragraph.Sentences, sentencesOf(sentence.Sentence, sentence.Sources)...)
		}
		if len(paragraph.Sentences) > 0 {
			section.Paragraphs = append(section.Paragraphs, paragraph)
		}
	}
	return section
}

func (w *writing) spend(used llm.Usage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.usage = w.usage.Add(used)
}

// isUnusable reports whether a model gave nothing that can be used: the report goes
// on without it. Any other failure is the task's.
func isUnusable(err error) bool {
	var failure *fault.Error
	return errors.As(err, &failure) && failure.Code == fault.InvalidAnswer
}
