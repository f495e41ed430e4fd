// Package gate takes the sentences out of a finished Markdown report that its
// evidence does not bear out, so that every engine's report passes the same check.
package gate

import (
	"regexp"
	"strconv"
	"strings"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/reporter/internal/evidence"
	"github.com/fathom-research/fathom/services/reporter/internal/verify"
)

var (
	cited  = regexp.MustCompile(`^(.*?\S)\s*((?:\[\d+\])+)`)
	number = regexp.MustCompile(`\[(\d+)\]`)
	lead   = regexp.MustCompile(`^\s*(?:[-*+]|\d+\.)?\s*(?:\*[^*]+\*\s+—\s+)?`)
	source = regexp.MustCompile(`^(?:- )?\[(\d+)\] `)
	escape = regexp.MustCompile("\\\\([\\\\`*_{}\\[\\]()#+\\-.!|<>~])")
)

// Apply checks every sentence of the report that carries citation marks, removes
// those that fail, and numbers the citations anew. A report in which all is borne out
// is returned as it is.
func Apply(report *workv1.ReportResult, set *evidence.Set) *workv1.ReportResult {
	g := &filter{set: set, report: report, byNumber: make(map[int32]*workv1.Citation), renumbered: make(map[int32]int32)}
	for _, citation := range report.GetCitations() {
		g.byNumber[citation.GetNumber()] = citation
	}
	lines := g.check(strings.Split(report.GetMarkdown(), "\n"))
	if g.removed == 0 {
		return report
	}
	return &workv1.ReportResult{
		Markdown:     strings.Join(g.rewrite(dropEmpty(lines)), "\n"),
		Citations:    g.citations,
		Verification: g.checked,
		Dropped:      report.GetDropped() + int32(g.removed),
	}
}

type filter struct {
	set        *evidence.Set
	report     *workv1.ReportResult
	byNumber   map[int32]*workv1.Citation
	removed    int
	renumbered map[int32]int32
	citations  []*workv1.Citation
	checked    []*workv1.CheckedSentence
}

// line is one line of the report; gone says that all of its sentences were removed.
type line struct {
	text string
	gone bool
}

func (g *filter) check(texts []string) []line {
	lines := make([]line, 0, len(texts))
	inSources := false
	for _, text := range texts {
		if strings.HasPrefix(text, "#") {
			inSources = strings.EqualFold(strings.Trim(text, "# "), "sources")
		}
		if inSources || strings.HasPrefix(text, "#") || !number.MatchString(text) {
			lines = append(lines, line{text: text})
			continue
		}
		lines = append(lines, g.line(text))
	}
	return lines
}

func (g *filter) line(text string) line {
	prefix := lead.FindString(text)
	rest := text[len(prefix):]
	var kept []string
	found := false
	for {
		match := cited.FindStringSubmatchIndex(rest)
		if match == nil {
			break
		}
		found = true
		sentence, marks := rest[match[2]:match[3]], rest[match[4]:match[5]]
		end := match[1]
		for end < len(rest) && strings.IndexByte(".!?", rest[end]) >= 0 {
			end++
		}
		if g.keeps(sentence+rest[match[1]:end], marks) {
			kept = append(kept, strings.TrimSpace(rest[:end]))
		} else {
			g.removed++
		}
		rest = rest[end:]
	}
	if !found {
		return line{text: text}
	}
	if len(kept) == 0 {
		return line{gone: true}
	}
	return line{text: prefix + strings.Join(kept, " ")}
}

func (g *filter) keeps(sentence, marks string) bool {
	sentence = strings.TrimSpace(escape.ReplaceAllString(sentence, "$1"))
	var items []int
	checked := &workv1.CheckedSentence{Sentence: sentence, Supported: true}
	for _, n := range numbers(marks) {
		citation := g.byNumber[n]
		if citation == nil {
			return false
		}
		items = append(items, g.set.ByCitation(citation)...)
	}
	verdict := verify.Check(sentence, g.set.Of(items))
	if !verdict.Supported {
		return false
	}
	for _, n := range numbers(marks) {
		checked.Citations = append(checked.Citations, g.renumber(n))
	}
	for _, item := range g.set.Of(verdict.By) {
		if id := item.Extraction.GetExtractionId(); id != 0 {
			checked.ExtractionIds = append(checked.ExtractionIds, id)
		}
	}
	g.checked = append(g.checked, checked)
	return true
}

func (g *filter) renumber(old int32) int32 {
	n, known := g.renumbered[old]
	if known {
		return n
	}
	n = int32(len(g.citations) + 1)
	g.renumbered[old] = n
	was := g.byNumber[old]
	g.citations = append(g.citations, &workv1.Citation{
		Number: n, Url: was.GetUrl(), Title: was.GetTitle(), Published: was.GetPublished(), ExtractionIds: was.GetExtractionIds(),
	})
	return n
}

// rewrite puts the new numbers into the text and sorts the list of sources by them.
func (g *filter) rewrite(texts []string) []string {
	out := make([]string, 0, len(texts))
	sources := make([]string, len(g.citations))
	place := -1
	for _, text := range texts {
		match := source.FindStringSubmatch(text)
		if match == nil {
			out = append(out, number.ReplaceAllStringFunc(text, g.mark))
			continue
		}
		if place < 0 {
			place = len(out)
		}
		n := g.renumbered[parse(match[1])]
		if n > 0 {
			sources[n-1] = strings.Replace(text, "["+match[1]+"]", "["+strconv.Itoa(int(n))+"]", 1)
		}
	}
	if place < 0 {
		return out
	}
	return append(out[:place:place], append(sources, out[place:]...)...)
}

func (g *filter) mark(old string) string {
	n := g.renumbered[parse(strings.Trim(old, "[]"))]
	if n == 0 {
		return old
	}
	return "[" + strconv.Itoa(int(n)) + "]"
}

// dropEmpty removes the lines that are gone and the headings left without text, with
// the blank lines around them.
func dropEmpty(lines []line) []string {
	var out []string
	for i, l := range lines {
		if l.gone || (strings.HasPrefix(l.text, "## ") && emptied(lines[i+1:])) {
			continue
		}
		if l.text == "" && len(out) > 0 && out[len(out)-1] == "" {
			continue
		}
		out = append(out, l.text)
	}
	return out
}

func emptied(rest []line) bool {
	lost := false
	for _, l := range rest {
		if strings.HasPrefix(l.text, "## ") {
			break
		}
		if !l.gone && strings.TrimSpace(l.text) != "" {
			return false
		}
		lost = lost || l.gone
	}
	return lost
}

func numbers(marks string) []int32 {
	var list []int32
	for _, match := range number.FindAllStringSubmatch(marks, -1) {
		list = append(list, parse(match[1]))
	}
	return list
}

func parse(digits string) int32 {
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil {
		return 0
	}
	return int32(n)
}
