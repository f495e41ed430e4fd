package draft

import (
	"fmt"
	"slices"
	"strings"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/reporter/internal/evidence"
)

// Render writes the report as Markdown. Each page that is cited has one number, from
// 1 without a gap in the order of first use. dropped is told in the result only.
func (r *Report) Render(set *evidence.Set, dropped int) *workv1.ReportResult {
	w := writer{set: set, numbers: make(map[string]int32)}
	fmt.Fprintf(&w.out, "# %s\n", r.Title)
	if len(r.Summary) > 0 {
		w.heading("## Summary")
		w.paragraph(Paragraph{Sentences: r.Summary})
	}
	for _, section := range r.Sections {
		level := "## "
		if section.Sub {
			level = "### "
		}
		if section.Heading != "" {
			w.heading(level + section.Heading)
		}
		for _, paragraph := range section.Paragraphs {
			w.paragraph(paragraph)
		}
	}
	for _, note := range r.Notes {
		w.heading("## " + note.Heading)
		fmt.Fprintf(&w.out, "\n%s\n", strings.TrimSpace(note.Markdown))
	}
	w.sources()
	return &workv1.ReportResult{
		Markdown: w.out.String(), Citations: w.citations, Verification: w.checked, Dropped: int32(dropped),
	}
}

type writer struct {
	out       strings.Builder
	set       *evidence.Set
	numbers   map[string]int32
	citations []*workv1.Citation
	checked   []*workv1.CheckedSentence
}

func (w *writer) heading(line string) { fmt.Fprintf(&w.out, "\n%s\n", line) }

func (w *writer) paragraph(paragraph Paragraph) {
	w.out.WriteString("\n")
	for i, sentence := range paragraph.Sentences {
		switch {
		case paragraph.List:
			w.out.WriteString("- ")
		case i > 0:
			w.out.WriteString(" ")
		}
		w.out.WriteString(w.sentence(sentence))
		if paragraph.List {
			w.out.WriteString("\n")
		}
	}
	if !paragraph.List {
		w.out.WriteString("\n")
	}
}

func (w *writer) sentence(sentence Sentence) string {
	checked := &workv1.CheckedSentence{Sentence: sentence.Text, Supported: true}
	for _, item := range w.set.Of(sentence.Supported) {
		number := w.cite(item)
		if !slices.Contains(checked.Citations, number) {
			checked.Citations = append(checked.Citations, number)
		}
		if id := item.Extraction.GetExtractionId(); id != 0 {
			checked.ExtractionIds = append(checked.ExtractionIds, id)
		}
	}
	w.checked = append(w.checked, checked)
	return mark(sentence.Text, checked.Citations)
}

// cite returns the number of the item's page.
func (w *writer) cite(item evidence.Item) int32 {
	extraction := item.Extraction
	number, known := w.numbers[extraction.GetUrl()]
	if !known {
		number = int32(len(w.citations) + 1)
		w.numbers[extraction.GetUrl()] = number
		w.citations = append(w.citations, &workv1.Citation{
			Number: number, Url: extraction.GetUrl(), Title: extraction.GetTitle(), Published: extraction.GetPublished(),
		})
	}
	citation := w.citations[number-1]
	id := extraction.GetExtractionId()
	if id != 0 && !slices.Contains(citation.ExtractionIds, id) {
		citation.ExtractionIds = append(citation.ExtractionIds, id)
	}
	return number
}

// mark puts the citations at the sentence's end, before its full stop.
func mark(text string, citations []int32) string {
	var marks strings.Builder
	for _, number := range slices.Sorted(slices.Values(citations)) {
		fmt.Fprintf(&marks, "[%d]", number)
	}
	body := strings.TrimRight(text, ".!?")
	end := text[len(body):]
	if end == "" && !strings.ContainsAny(lastInside(text), ".!?") {
		end = "."
	}
	return body + " " + marks.String() + end
}

// lastInside is the last character before closing quotation marks and brackets.
func lastInside(text string) string {
	inside := strings.TrimRight(text, `"')”’»*_`)
	return inside[max(0, len(inside)-1):]
}

func (w *writer) sources() {
	if len(w.citations) == 0 {
		return
	}
	w.heading("## Sources")
	w.out.WriteString("\n")
	for _, citation := range w.citations {
		fmt.Fprintf(&w.out, "- [%d] %s<%s>\n", citation.GetNumber(), describe(citation), citation.GetUrl())
	}
}

func describe(citation *workv1.Citation) string {
	title := strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if strings.ContainsRune("[]<>*`|\\", r) {
			return ' '
		}
		return r
	}, citation.GetTitle())), " ")
	title = strings.TrimRight(title, ". ")
	date := ""
	if published := citation.GetPublished(); published.IsValid() {
		date = " (" + published.AsTime().Format("2006-01-02") + ")"
	}
	if title == "" || strings.Contains(title, "://") {
		title = ""
		date = strings.TrimPrefix(date, " ")
	}
	if title+date == "" {
		return ""
	}
	return title + date + ". "
}
