// Package erroroutput writes error-output.md: what a research had when something of
// it could not be processed, so that nothing that was found is lost with it.
package erroroutput

import (
	"fmt"
	"strings"
	"time"

	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// Render writes the document as things stand at the given time.
func Render(r *store.Record, at time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Error output of research %s\n\n", r.ID)
	writeState(&b, r, at)
	writeQueries(&b, r)
	writeAnalyzed(&b, r)
	writeFailed(&b, r)
	if r.Report != nil {
		heading := "Report"
		if r.Report.Partial {
			heading = "Partial report"
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", heading, strings.TrimSpace(r.Report.Markdown))
	}
	return b.String()
}

func writeState(b *strings.Builder, r *store.Record, at time.Time) {
	fmt.Fprintf(b, "- Status: %s\n", r.Status)
	if r.Reason != "" {
		fmt.Fprintf(b, "- Reason: %s\n", reason(r.Reason, r.ErrorMessage))
	}
	fmt.Fprintf(b, "- Time: %s\n", at.UTC().Format(time.RFC3339))
	if r.Depth > 0 {
		fmt.Fprintf(b, "- Depth %d, breadth %d: %d queries planned, %d made\n", r.Depth, r.Breadth, r.PlannedQueries, len(r.Queries))
	}
	fmt.Fprintf(b, "\n## Prompt\n\n%s\n", quoted(r.Prompt))
	if len(r.Questions) == 0 {
		return
	}
	b.WriteString("\n## Follow-up questions\n\n")
	for i, question := range r.Questions {
		answer := "(not answered)"
		if i < len(r.Answers) {
			answer = r.Answers[i]
		}
		if answer == "" {
			answer = "(no preference)"
		}
		fmt.Fprintf(b, "%d. %s\n   %s\n", i+1, oneLine(question), oneLine(answer))
	}
}

func writeQueries(b *strings.Builder, r *store.Record) {
	if len(r.Queries) == 0 {
		b.WriteString("\n## Queries\n\nNo query was made.\n")
		return
	}
	b.WriteString("\n## Queries\n\n")
	for _, q := range r.Queries {
		fmt.Fprintf(b, "%s- %s — %s", strings.Repeat("  ", q.Depth-1), oneLine(q.Text), q.Status)
		if q.Status == workflow.QueryFailed {
			fmt.Fprintf(b, " (%s)", reason(q.Reason, q.Message))
		}
		b.WriteString("\n")
	}
}

func writeAnalyzed(b *strings.Builder, r *store.Record) {
	text := make(map[string]string, len(r.Queries))
	for _, q := range r.Queries {
		text[q.ID] = q.Text
	}
	b.WriteString("\n## Analyzed websites\n")
	none := true
	for _, site := range r.Sites {
		if site.Status != workflow.SiteAnalyzed {
			continue
		}
		none = false
		fmt.Fprintf(b, "\n### <%s>\n\n", site.URL)
		if site.Title != "" {
			fmt.Fprintf(b, "Title: %s\n", oneLine(site.Title))
		}
		fmt.Fprintf(b, "Query: %s\n", oneLine(text[site.QueryID]))
		writeExtractions(b, site, r.Extractions[site.ID])
	}
	if none {
		b.WriteString("\nNone.\n")
	}
}

func writeExtractions(b *strings.Builder, site store.RecordSite, extractions []store.Extraction) {
	switch {
	case site.CopyOf != "":
		fmt.Fprintf(b, "\nThe same page as <%s>.\n", site.CopyOf)
		return
	case len(extractions) == 0:
		b.WriteString("\nNothing on it answers the query's objective.\n")
		return
	}
	b.WriteString("\n")
	for _, e := range extractions {
		fmt.Fprintf(b, "- %s\n", oneLine(e.Claim))
		if e.Quote != e.Claim {
			fmt.Fprintf(b, "  > %s\n", oneLine(e.Quote))
		}
	}
}

func writeFailed(b *strings.Builder, r *store.Record) {
	b.WriteString("\n## Failed websites\n\n")
	none := true
	for _, site := range r.Sites {
		if site.Status == workflow.SiteFailed {
			none = false
			fmt.Fprintf(b, "- <%s>: %s\n", site.URL, reason(site.Reason, site.Message))
		}
	}
	if none {
		b.WriteString("None.\n")
	}
}

func reason(code, message string) string {
	if message == "" {
		return code
	}
	return code + ": " + oneLine(message)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func quoted(text string) string {
	return "> " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n> ")
}
