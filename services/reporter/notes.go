package reporter

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/reporter/internal/draft"
)

// listedGaps bounds the list of what stayed unanswered.
const listedGaps = 12

// addNotes adds what the research did not find out and how it was done. failure is
// why the report is a partial one.
func (w *writing) addNotes(failure error) {
	gaps := unanswered(w.task)
	if gaps != "" {
		w.report.Notes = append(w.report.Notes, draft.Note{Heading: "What stayed unanswered", Markdown: gaps})
	}
	w.report.Notes = append(w.report.Notes, draft.Note{Heading: "Method", Markdown: w.method(failure)})
}

// unanswered lists the objectives for which no page gave anything.
func unanswered(task *workv1.ReportTask) string {
	var lines []string
	more := 0
	for _, query := range task.GetQueries() {
		if len(query.GetExtractions()) > 0 {
			continue
		}
		if len(lines) == listedGaps {
			more++
			continue
		}
		line := "- " + plainText(cmp.Or(query.GetObjective(), query.GetText()))
		if query.GetReason() != "" && query.GetReason() != string(fault.OK) {
			line += " (" + reasonName(query.GetReason()) + ")"
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return ""
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("- … and %d more", more))
	}
	return "Nothing that could be used was found for these objectives:\n\n" + strings.Join(lines, "\n")
}

func (w *writing) method(failure error) string {
	var b strings.Builder
	b.WriteString("This report was written by a language model from passages that were extracted from the cited pages. " +
		"Each sentence was compared with the passages that it cites by its words, figures, names and denials; whether the pages themselves are right was not checked.")
	if w.dropped > 0 {
		fmt.Fprintf(&b, " %s left out, since no passage bears %s out.",
			counted(w.dropped, "sentence was", "sentences were"), map[bool]string{true: "it", false: "them"}[w.dropped == 1])
	}
	tally := w.task.GetTally()
	if tally != nil {
		fmt.Fprintf(&b, " %s completed, %d failed; %s analyzed, %d failed%s.",
			counted(int(tally.GetQueriesCompleted()), "query was", "queries were"), tally.GetQueriesFailed(),
			counted(int(tally.GetPagesAnalyzed()), "page was", "pages were"), tally.GetPagesFailed(), reasons(tally.GetReasons()))
	}
	if failure != nil {
		fmt.Fprintf(&b, "\n\nThe report is incomplete, since writing it failed: %s.", plainText(strings.TrimRight(failure.Error(), ".")))
	}
	notes := make([]string, 0, len(w.task.GetNotes()))
	for _, note := range w.task.GetNotes() {
		notes = append(notes, "- "+plainText(note))
	}
	if len(notes) > 0 {
		b.WriteString("\n\n" + strings.Join(notes, "\n"))
	}
	return b.String()
}

// reasons lists how queries and pages ended that did not end well, most frequent first.
func reasons(counts map[string]int32) string {
	names := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	var parts []string
	for _, name := range names {
		if name != string(fault.OK) && name != "" && counts[name] > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", reasonName(name), counts[name]))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func reasonName(code string) string { return strings.ReplaceAll(code, "_", " ") }

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// plainText is text on one line that can't change the Markdown around it.
func plainText(text string) string {
	return strings.NewReplacer("<", "‹", ">", "›", "[", "(", "]", ")", "`", "'", "*", "", "#", "").Replace(oneLine(text))
}
