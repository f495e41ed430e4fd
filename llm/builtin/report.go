package builtin

import (
	"strings"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

const (
	defaultWords   = 1500
	defaultSources = 25
)

// Report writes the report of a research from its extractions alone: each
// sentence about the world is one of theirs, with the pages that it stands on.
func Report(task *workv1.ReportTask) *workv1.ReportResult {
	s := newSubject(task.GetPrompt(), task.GetClarifications())
	all, dropped := s.lex.readEvidence(task.GetQueries())
	facts := merge(all)
	s.rank(facts)

	picker := newPicker(orDefault(task.GetWords(), defaultWords), orDefault(task.GetSources(), defaultSources))
	picked := picker.pick(s.relevant(facts))
	summary, body := s.summarise(picked)
	dated, undated := s.timeline(body)
	sections := s.outline(undated)

	w := &writer{subject: s, picker: picker, numbers: map[string]int32{}}
	w.title()
	w.summary(summary, task)
	w.timeline(dated)
	for _, section := range sections {
		w.section(section)
	}
	w.unanswered(picked, task.GetQueries())
	w.method(task, counts{extracted: len(all), merged: len(all) - len(facts), shown: len(picked), dropped: dropped})
	w.sources()
	return &workv1.ReportResult{
		Markdown:     strings.TrimSpace(w.text.String()) + "\n",
		Citations:    w.citations,
		Verification: w.checked,
		Dropped:      int32(dropped),
	}
}

func orDefault(value int32, fallback int) int {
	if value > 0 {
		return int(value)
	}
	return fallback
}
