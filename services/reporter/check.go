package reporter

import (
	"context"
	"errors"
	"fmt"

	"github.com/fathom-research/fathom/llm"
	"github.com/fathom-research/fathom/services/reporter/internal/draft"
	"github.com/fathom-research/fathom/services/reporter/internal/evidence"
	"github.com/fathom-research/fathom/services/reporter/internal/prompt"
	"github.com/fathom-research/fathom/services/reporter/internal/verify"
)

const (
	// repairBatch is how many sentences one call mends.
	repairBatch = 15
	// repairChoices is how many pieces of evidence are shown for each of them besides
	// those that it cites.
	repairChoices = 3
	// fallbackSentences bounds a report that is made of claims alone.
	fallbackSentences = 20
)

// repair has each sentence that its evidence does not bear out rewritten once.
func (w *writing) repair(ctx context.Context) error {
	faulty := w.faulty()
	for begin := 0; begin < len(faulty); begin += repairBatch {
		batch := faulty[begin:min(begin+repairBatch, len(faulty))]
		shown := make([]prompt.Faulty, 0, len(batch))
		for _, sentence := range batch {
			shown = append(shown, prompt.Faulty{Text: sentence.at.Text, Problem: sentence.problem, Evidence: sentence.near})
		}
		answer, used, err := llm.Structured[prompt.RepairAnswer](ctx, w.client, prompt.Repair(shown, w.service.config.LLM.ContextTokens), nil)
		w.spend(used)
		if isUnusable(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("repair %d sentences: %w", len(batch), err)
		}
		for _, mended := range answer.Sentences {
			if mended.Number < 1 || mended.Number > len(batch) {
				continue
			}
			for _, sentence := range sentencesOf(mended.Sentence, mended.Sources) {
				*batch[mended.Number-1].at = sentence
			}
		}
	}
	return nil
}

type faultySentence struct {
	at      *draft.Sentence
	problem string
	near    []evidence.Item
}

func (w *writing) faulty() []faultySentence {
	var list []faultySentence
	w.eachInPlace(func(sentence *draft.Sentence) {
		verdict := verify.Anywhere(sentence.Text, sentence.Evidence, w.set)
		if verdict.Supported {
			return
		}
		near := w.set.Of(sentence.Evidence)
		near = append(near, verify.Nearest(sentence.Text, w.set, repairChoices)...)
		if len(near) > 0 {
			list = append(list, faultySentence{at: sentence, problem: verdict.Problem, near: near})
		}
	})
	return list
}

func (w *writing) eachInPlace(fn func(*draft.Sentence)) {
	for s := range w.report.Sections {
		for p := range w.report.Sections[s].Paragraphs {
			sentences := w.report.Sections[s].Paragraphs[p].Sentences
			for i := range sentences {
				fn(&sentences[i])
			}
		}
	}
}

// drop removes what is not borne out, and what was said before. Only the former
// counts as dropped.
func (w *writing) drop() {
	var said []string
	w.report.Each(func(sentence *draft.Sentence) bool {
		verdict := verify.Anywhere(sentence.Text, sentence.Evidence, w.set)
		if !verdict.Supported {
			w.dropped++
			return false
		}
		for _, earlier := range said {
			if verify.Double(earlier, sentence.Text) {
				return false
			}
		}
		said = append(said, sentence.Text)
		sentence.Supported = verdict.By
		return true
	})
}

// summarize adds the summary. It may repeat the sections: only support is asked for.
func (w *writing) summarize(ctx context.Context) error {
	request := prompt.Summary(w.task, w.report, w.service.config.LLM.ContextTokens)
	answer, used, err := llm.Structured(ctx, w.client, request, func(answer *prompt.SummaryAnswer) error {
		if len(answer.Sentences) == 0 {
			return errors.New("the summary has no sentence")
		}
		return nil
	})
	w.spend(used)
	if isUnusable(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write the summary: %w", err)
	}
	for _, given := range answer.Sentences {
		for _, sentence := range sentencesOf(given.Sentence, given.Sources) {
			verdict := verify.Anywhere(sentence.Text, sentence.Evidence, w.set)
			if !verdict.Supported {
				w.dropped++
				continue
			}
			sentence.Supported = verdict.By
			w.report.Summary = append(w.report.Summary, sentence)
		}
	}
	return nil
}

// fallBack lists the best claims as they are when nothing that the model wrote
// passed the check: what was found is worth more than an empty report.
func (w *writing) fallBack() {
	section := draft.Section{Heading: "Findings"}
	list := draft.Paragraph{List: true}
	for _, item := range spread(w.set.Items()) {
		if len(list.Sentences) == fallbackSentences {
			break
		}
		for _, sentence := range sentencesOf(item.Extraction.GetClaim(), []int{item.Number}) {
			verdict := verify.Check(sentence.Text, w.set.Of(sentence.Evidence))
			if verdict.Supported {
				sentence.Supported = verdict.By
				list.Sentences = append(list.Sentences, sentence)
			}
		}
	}
	if len(list.Sentences) > 0 {
		section.Paragraphs = []draft.Paragraph{list}
		w.report.Sections = []draft.Section{section}
	}
}
