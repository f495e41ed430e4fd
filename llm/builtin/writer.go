package builtin

import (
	"fmt"
	"sort"
	"strings"
	"time"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// titleBytes bounds the report's title; a longer prompt is quoted below it.
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
}

func (w *writer) printf(format string, args ...any) {
	fmt.Fprintf(&w.text, format, args...)
}

func (w *writer) title() {
	prompt := w.subject.prompt
	if prompt == "" {
		prompt = "Report"
	}
	w.printf("# %s\n\n", escape(shorten(prompt, titleBytes)))
	if len(prompt) > titleBytes {
		w.printf("> %s\n\n", escape(shorten(prompt, 1200)))
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

// section writes its facts page by page, in order of time where they are dated.
func (w *writer) section(s section) {
	w.printf("## %s\n\n", escape(s.heading))
	groups, dated := byPage(s.facts)
	for _, group := range groups {
		w.printed = map[string]bool{}
		parts := make([]string, 0, len(group))
		for _, f := range group {
			if text := w.cited(f); text != "" {
				parts = append(parts, text)
			}
		}
		if dated {
			w.printf("- *%s* — %s\n", group[0].published().Format(time.DateOnly), strings.Join(parts, " "))
			continue
		}
		w.printf("- %s\n", strings.Join(parts, " "))
	}
	w.printf("\n")
}

// byPage groups facts by the page they are quoted from, each group in the order of
// the page. Groups are in order of time when all of them are dated and their
// dates differ, else in the order of their best fact.
func byPage(facts []*fact) ([][]*fact, bool) {
	var order []string
	groups := map[string][]*fact{}
	days := map[string]bool{}
	dated := true
	for _, f := range facts {
		if groups[f.GetUrl()] == nil {
			order = append(order, f.GetUrl())
		}
		groups[f.GetUrl()] = append(groups[f.GetUrl()], f)
		dated = dated && !f.published().IsZero()
		days[f.published().Format(time.DateOnly)] = true
	}
	dated = dated && len(days) > 1
	sorted := make([][]*fact, 0, len(order))
	for _, url := range order {
		group := groups[url]
		sort.SliceStable(group, func(a, b int) bool { return group[a].GetStart() < group[b].GetStart() })
		sorted = append(sorted, group)
	}
	if dated {
		sort.SliceStable(sorted, func(a, b int) bool { return sorted[a][0].published().Before(sorted[b][0].published()) })
	}
	return sorted, dated
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
		if w.printed[sentence] {
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
		if title == "" {
			title = "Untitled"
		}
		w.printf("[%d] %s — <%s>", c.GetNumber(), title, linkable.Replace(c.GetUrl()))
		if at := c.GetPublished(); at != nil && at.IsValid() {
			w.printf(" (%s)", at.AsTime().Format(time.DateOnly))
		}
		w.printf("  \n")
	}
}
