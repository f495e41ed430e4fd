package builtin

import (
	"fmt"
	"strings"
	"time"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// titleBytes bounds the report's title; a longer prompt gives its first clause, and
// is quoted below.
const titleBytes = 110

// writer puts a report together and numbers its sources as they come up.
type writer struct {
	subject   *subject
	picker    *picker
	text      strings.Builder
	numbers   map[string]int32
	citations []*workv1.Citation
	checked   []*workv1.CheckedSentence
	// printed are the sentences of one item: a sentence that two facts took along
	// stands there once.
	printed map[string]bool
	// told says that there is a timeline, so that the rest needs no order in time.
	told bool
}

func (w *writer) printf(format string, args ...any) {
	fmt.Fprintf(&w.text, format, args...)
}

func (w *writer) title() {
	title, whole := w.subject.title()
	w.printf("# %s\n\n", escape(title))
	if !whole {
		w.printf("> %s\n\n", escape(shorten(w.subject.prompt, 1200)))
	}
}

func (w *writer) summary(facts []*fact, task *workv1.ReportTask) {
	w.printf("## Summary\n\n")
	if len(facts) == 0 {
		w.printf("%s\n\n", nothing(task))
		return
	}
	if weak(facts) {
		w.printf("No page was found that answers the prompt well; this is the nearest there is.\n\n")
	}
	for _, f := range facts {
		w.printed = map[string]bool{}
		w.printf("- %s\n", w.cited(f))
	}
	w.printf("\n")
}

// weakCoverage is the share of the prompt below which even the best fact is more
// likely about something else.
const weakCoverage = 0.22

func weak(facts []*fact) bool {
	for _, f := range facts {
		if max(f.coverage, f.partly/2) >= weakCoverage {
			return false
		}
	}
	return true
}

// cited is a fact's text with its sources after each of its sentences.
func (w *writer) cited(f *fact) string {
	var numbers []int32
	var ids []int64
	for _, url := range urls(f) {
		if w.picker.cited[url] && len(numbers) < mostMarks {
			numbers = append(numbers, w.number(f, url))
		}
	}
	for _, e := range f.support {
		if number := w.numbers[e.GetUrl()]; number > 0 && contains(numbers, number) {
			ids = append(ids, e.GetExtractionId())
			w.cite(number, e.GetExtractionId())
		}
	}
	var marks strings.Builder
	for _, number := range numbers {
		fmt.Fprintf(&marks, "[%d]", number)
	}
	var parts []string
	for _, sp := range w.subject.lex.sentences(f.sentence) {
		sentence := f.sentence[sp.start:sp.end]
		label := sp.end < len(f.sentence) && len(strings.Fields(sentence)) < fewestWords && w.subject.lex.fragment(sentence)
		if w.printed[sentence] || label {
			continue
		}
		w.printed[sentence] = true
		parts = append(parts, escape(fullStop(sentence))+" "+marks.String())
		w.checked = append(w.checked, &workv1.CheckedSentence{
			Sentence: sentence, Citations: numbers, ExtractionIds: ids, Supported: w.supported(f, sentence),
		})
	}
	return strings.Join(parts, " ")
}

// supported says whether the quotes of a fact have the words and figures of one of
// its sentences, which a claim made by a model may lack.
func (w *writer) supported(f *fact, sentence string) bool {
	set := w.subject.lex.set(sentence)
	for _, e := range f.support {
		quote := w.subject.lex.set(plain(e.GetQuote()) + " " + e.GetTitle())
		if len(set) == 0 || set.within(quote) >= claimInQuote && set.numbersWithin(quote) {
			return true
		}
	}
	return false
}

func fullStop(sentence string) string {
	if endsSentence(sentence) {
		return sentence
	}
	return strings.TrimRight(sentence, " ,;:") + "."
}

func (w *writer) number(f *fact, url string) int32 {
	if number := w.numbers[url]; number > 0 {
		return number
	}
	number := int32(len(w.citations) + 1)
	w.numbers[url] = number
	for _, e := range f.support {
		if e.GetUrl() == url {
			w.citations = append(w.citations, &workv1.Citation{
				Number: number, Url: url, Title: strings.ToValidUTF8(e.GetTitle(), ""), Published: e.GetPublished(),
			})
			break
		}
	}
	return number
}

func (w *writer) cite(number int32, id int64) {
	citation := w.citations[number-1]
	if id != 0 && !contains(citation.ExtractionIds, id) {
		citation.ExtractionIds = append(citation.ExtractionIds, id)
	}
}

func contains[T comparable](list []T, item T) bool {
	for _, x := range list {
		if x == item {
			return true
		}
	}
	return false
}

// linkable writes what an autolink of Markdown can't hold as it is.
var linkable = strings.NewReplacer(" ", "%20", "<", "%3C", ">", "%3E", "\n", "%0A", "\r", "%0D", "\t", "%09")

// sources lists the pages in the order of their numbers. Two spaces at a line's end
// keep each on a line of its own.
func (w *writer) sources() {
	if len(w.citations) == 0 {
		return
	}
	w.printf("## Sources\n\n")
	for _, c := range w.citations {
		title := escape(shorten(strings.Join(strings.Fields(c.GetTitle()), " "), 200))
		if title != "" {
			title += " — "
		}
		w.printf("[%d] %s<%s>", c.GetNumber(), title, linkable.Replace(c.GetUrl()))
		if at := c.GetPublished(); at != nil && at.IsValid() {
			w.printf(" (%s)", at.AsTime().Format(time.DateOnly))
		}
		w.printf("  \n")
	}
}
