package extract

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// withoutRunning drops headers, footers and page numbers: first and last lines
// that most pages have, whatever their digits.
func withoutRunning(pages [][]pdfLine) [][]pdfLine {
	if len(pages) < 3 {
		return pages
	}
	const edge = 2
	counts := map[string]int{}
	for _, lines := range pages {
		seen := map[string]bool{}
		for i, l := range lines {
			if key := runningKey(l.text); (i < edge || i >= len(lines)-edge) && !seen[key] {
				seen[key] = true
				counts[key]++
			}
		}
	}
	for p, lines := range pages {
		kept := make([]pdfLine, 0, len(lines))
		for i, l := range lines {
			if i >= edge && i < len(lines)-edge || counts[runningKey(l.text)]*2 <= len(pages) {
				kept = append(kept, l)
			}
		}
		if len(kept) > 0 { // a page of nothing else has that for its text
			pages[p] = kept
		}
	}
	return pages
}

func runningKey(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '0'
		}
		return unicode.ToLower(r)
	}, strings.TrimLeft(text, "0123456789 "))
}

// writePages makes Markdown of the lines of all pages, and tells where each page
// begins.
func writePages(pages [][]pdfLine) (string, []int) {
	body, sizes := textSizes(pages)
	var out strings.Builder
	starts := make([]int, len(pages))
	for i, lines := range pages {
		text := tidyLines(writeLines(lines, body, sizes))
		if text != "" && out.Len() > 0 {
			out.WriteString("\n\n")
		}
		starts[i] = out.Len()
		out.WriteString(text)
	}
	return out.String(), starts
}

// textSizes is the size that most of a document is set in, and the larger ones
// that its headings have, the largest first.
func textSizes(pages [][]pdfLine) (float64, []float64) {
	letters := map[float64]int{}
	for _, lines := range pages {
		for _, l := range lines {
			letters[rounded(l.size)] += len(l.text)
		}
	}
	body, most := 0.0, 0
	for size, n := range letters {
		if n > most || n == most && size < body {
			body, most = size, n
		}
	}
	var larger []float64
	for size := range letters {
		if size >= 1.12*body {
			larger = append(larger, size)
		}
	}
	slices.SortFunc(larger, func(a, b float64) int { return compare(b, a) })
	return body, larger[:min(len(larger), 5)]
}

func rounded(size float64) float64 { return math.Round(size*2) / 2 }

func writeLines(lines []pdfLine, body float64, headings []float64) string {
	var out strings.Builder
	var para []byte
	level := 0
	flush := func() {
		if len(para) == 0 {
			return
		}
		text := string(para)
		if level > 0 && countWords(text) <= 25 {
			out.WriteString("\n" + strings.Repeat("#", level) + " " + text + "\n\n")
		} else {
			out.WriteString("\n" + guardLine(text) + "\n\n")
		}
		para = para[:0]
	}
	for i, l := range lines {
		here := slices.Index(headings, rounded(l.size)) + 1
		if i > 0 && (l.apart || here != level || opensParagraph(lines, i, body)) {
			flush()
		}
		level = here
		para = joinLine(para, l.text)
	}
	flush()
	return out.String()
}

// opensParagraph is true for a line after a wide gap, with an indent, or that
// begins with the mark of a list.
func opensParagraph(lines []pdfLine, i int, body float64) bool {
	before, l := lines[i-1], lines[i]
	gap := before.y - l.y
	if gap < 0 || gap > 1.75*math.Max(l.size, body) {
		return true
	}
	first := strings.Fields(l.text)[0]
	if first == "•" || first == "-" || first == "–" || first == "▪" || first == "◦" || first == "●" {
		return true
	}
	return l.left-before.left > 0.8*l.size && l.left-before.left < 4*l.size && strings.ContainsAny(before.text[len(before.text)-1:], ".!?:;\"")
}

// joinLine adds a line to a paragraph and takes out the hyphen of a word that
// was parted at the line's end.
func joinLine(para []byte, text string) []byte {
	first, _ := utf8.DecodeRuneInString(text)
	switch n := len(para); {
	case n == 0:
	case n > 1 && para[n-1] == '-' && para[n-2] != ' ' && unicode.IsLower(first):
		para = para[:n-1]
	default:
		para = append(para, ' ')
	}
	return append(para, text...)
}

// guardLine keeps a line of plain text from being taken for markup, and makes
// bullets items of a list.
func guardLine(text string) string {
	for _, bullet := range []string{"• ", "▪ ", "◦ ", "● ", "– "} {
		if rest, ok := strings.CutPrefix(text, bullet); ok {
			return "- " + rest
		}
	}
	first, rest, _ := strings.Cut(text, " ")
	if strings.HasPrefix(first, "#") && strings.Trim(first, "#") == "" {
		return `\` + first + " " + rest
	}
	return text
}

// pagedSections cuts a text at its headings and at the starts of its pages. A
// page goes on with the headings of the one before it.
func pagedSections(text string, starts []int) []*workv1.Section {
	var sections []*workv1.Section
	page := 0
	for _, s := range sectionsOf(text) {
		at := int(s.GetStart())
		for at < int(s.GetEnd()) {
			for page+1 < len(starts) && starts[page+1] <= at {
				page++
			}
			end := int(s.GetEnd())
			if page+1 < len(starts) && starts[page+1] < end {
				end = starts[page+1]
			}
			if strings.TrimSpace(text[at:end]) != "" {
				sections = append(sections, &workv1.Section{HeadingPath: s.GetHeadingPath(), Start: int32(at), End: int32(end), Page: int32(page + 1)})
			}
			at = end
		}
	}
	return sections
}
