package builtin

import (
	"fmt"
	"sort"
	"strings"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// counts is what became of the extractions of a research.
type counts struct {
	extracted, merged, shown, dropped int
}

// nothing says why there is no answer.
func nothing(task *workv1.ReportTask) string {
	answer := "No answer can be given: nothing was found that bears on the prompt."
	tally := task.GetTally()
	switch {
	case tally == nil && len(task.GetQueries()) == 0:
		return answer + " No search was made."
	case tally == nil:
		return answer
	case tally.GetQueriesCompleted() == 0 && tally.GetQueriesFailed() > 0:
		return answer + " Every search failed" + reasons(tally) + "."
	case tally.GetPagesAnalyzed() == 0 && tally.GetPagesFailed() > 0:
		return answer + " None of the pages that were found could be read" + reasons(tally) + "."
	case tally.GetPagesAnalyzed() == 0:
		return answer + " The searches found no page."
	}
	return answer + fmt.Sprintf(" %s read, and none of them has a sentence that answers what was asked.", plural(tally.GetPagesAnalyzed(), "page was", "pages were"))
}

// unanswered names the parts of the prompt that no shown sentence speaks of or that rest
// on little, and the searches that brought nothing.
func (w *writer) unanswered(picked []*fact, queries []*workv1.ReportQuery) {
	var lines []string
	if len(picked) > 0 {
		lines = w.subject.openParts(picked)
	}
	lines = append(lines, emptySearches(queries)...)
	if len(picked) == 0 && len(lines) == 0 {
		lines = []string{"The whole prompt."}
	}
	if len(lines) == 0 {
		return
	}
	w.printf("## What stayed unanswered\n\n")
	for _, line := range lines {
		w.printf("- %s\n", line)
	}
	w.printf("\n")
}

func (s *subject) openParts(picked []*fact) []string {
	var lines []string
	open := func(text string, least float64, format string) {
		terms := newTermSet(s.lex.informative(text))
		for _, term := range s.lex.historyTerms(text) {
			delete(terms, term)
		}
		best := 0.0
		for _, f := range picked {
			best = max(best, terms.within(f.set))
		}
		if len(terms) > 0 && best < least {
			lines = append(lines, fmt.Sprintf(format, escape(shorten(text, 160))))
		}
	}
	for _, name := range s.names {
		open(name, 0.5, "No cited sentence speaks of “%s”.")
	}
	for _, topic := range s.topics[:min(len(s.topics), 6)] {
		open(topic, 0.5, "No cited sentence speaks of “%s”.")
	}
	for _, date := range s.dates {
		open(date, 0.5, "No cited sentence names the date or period “%s”.")
	}
	if len(s.clauses) > 1 {
		for _, clause := range s.clauses {
			open(clause, 0.3, "Little was found on this part: “%s”.")
		}
	}
	for _, wish := range s.wishes {
		open(wish.answer, 0.3, "Nothing was found that meets the answer “%s”.")
	}
	if len(s.sides) > 1 && !sideBySide(s, picked) {
		lines = append(lines, fmt.Sprintf("No cited sentence sets %s and %s against each other; they are only covered separately, if at all.",
			escape(s.sides[0]), escape(s.sides[1])))
	}
	lines = append(lines, s.openRelations(picked)...)
	return append(lines, s.thin(picked)...)
}

// openRelations names what the prompt asks about its themes and no sentence answers.
func (s *subject) openRelations(picked []*fact) []string {
	var lines []string
	for _, r := range relations {
		if !s.lex.english || !r.asked.MatchString(s.prompt) {
			continue
		}
		answered := false
		for _, f := range picked {
			answered = answered || r.answered.MatchString(f.sentence)
		}
		if !answered {
			lines = append(lines, fmt.Sprintf("No cited sentence says %s.", r.name))
		}
	}
	return lines
}

// thin names the parts of the prompt that rest on little.
func (s *subject) thin(picked []*fact) []string {
	sentences, pages := map[*facet]int{}, map[*facet]map[string]bool{}
	for _, f := range picked {
		if pages[f.facet] == nil {
			pages[f.facet] = map[string]bool{}
		}
		sentences[f.facet]++
		for _, url := range urls(f) {
			pages[f.facet][url] = true
		}
	}
	var lines []string
	whole := map[string]bool{}
	for _, f := range picked {
		for _, url := range urls(f) {
			whole[url] = true
		}
	}
	if len(whole) == 1 {
		return []string{"All of this rests on a single page."}
	}
	if len(s.facets) < 2 {
		return nil
	}
	for _, c := range s.facets {
		switch {
		case sentences[c] == 0:
		case sentences[c] == 1:
			lines = append(lines, fmt.Sprintf("“%s” rests on a single sentence.", escape(c.heading)))
		case len(pages[c]) == 1:
			lines = append(lines, fmt.Sprintf("“%s” rests on a single page.", escape(c.heading)))
		}
	}
	return lines
}

func sideBySide(s *subject, picked []*fact) bool {
	first, second := s.lex.set(s.sides[0]), s.lex.set(s.sides[1])
	for _, f := range picked {
		if first.within(f.set) >= 0.5 && second.within(f.set) >= 0.5 {
			return true
		}
	}
	return false
}

func emptySearches(queries []*workv1.ReportQuery) []string {
	var empty []string
	for _, query := range queries {
		if len(query.GetExtractions()) == 0 {
			empty = append(empty, "“"+escape(shorten(strings.ToValidUTF8(query.GetText(), ""), 90))+"”")
		}
	}
	if len(empty) == 0 {
		return nil
	}
	line := fmt.Sprintf("%s nothing that could be used: %s", plural(int32(len(empty)), "search brought", "searches brought"), strings.Join(empty[:min(5, len(empty))], ", "))
	if len(empty) > 5 {
		line += fmt.Sprintf(" and %d more", len(empty)-5)
	}
	return []string{line + "."}
}

// method says how the report came about and what limited it.
func (w *writer) method(task *workv1.ReportTask, c counts) {
	w.printf("## Method\n\n")
	w.printf("This report was put together without a language model. Its sentences are those that word statistics found in the pages cited; they are not rephrased, and nobody has checked whether the pages are right.")
	if tally := task.GetTally(); tally != nil {
		w.printf(" %s completed and %d failed; %s read and %d could not be%s.",
			plural(tally.GetQueriesCompleted(), "search was", "searches were"), tally.GetQueriesFailed(),
			plural(tally.GetPagesAnalyzed(), "page was", "pages were"), tally.GetPagesFailed(), reasons(tally))
	} else {
		w.printf(" %s made.", plural(int32(len(task.GetQueries())), "search was", "searches were"))
	}
	if c.extracted > 0 {
		w.printf(" Of %s, %d repeated another and %d are shown.", plural(int32(c.extracted), "extracted passage", "extracted passages"), c.merged, c.shown)
	}
	if c.dropped > 0 {
		w.printf(" %s left out for want of a sentence of the page that supports it.", plural(int32(c.dropped), "passage was", "passages were"))
	}
	w.printf("\n\n")
	for _, note := range task.GetNotes() {
		if note = strings.TrimSpace(strings.ToValidUTF8(note, "")); note != "" {
			w.printf("- %s\n", escape(note))
		}
	}
	if len(task.GetNotes()) > 0 {
		w.printf("\n")
	}
}

// reasons lists what failures ended with, the most frequent first.
func reasons(tally *workv1.Tally) string {
	var names []string
	for name, count := range tally.GetReasons() {
		if count > 0 && name != "" && name != "ok" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	sort.Slice(names, func(a, b int) bool {
		if tally.GetReasons()[names[a]] != tally.GetReasons()[names[b]] {
			return tally.GetReasons()[names[a]] > tally.GetReasons()[names[b]]
		}
		return names[a] < names[b]
	})
	parts := make([]string, 0, len(names))
	for _, name := range names {
		parts = append(parts, fmt.Sprintf("%s %d", strings.ReplaceAll(name, "_", " "), tally.GetReasons()[name]))
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func plural(n int32, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
