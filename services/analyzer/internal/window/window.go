// Package window cuts a long page into parts that a model can read at once.
package window

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fathom-research/fathom/llm"
	"github.com/fathom-research/fathom/llm/lexis"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// Window is a part of a page: bytes Start to End of its text.
type Window struct {
	Start, End int
	// HeadingPath are the headings above its first section.
	HeadingPath []string
}

// Split cuts text into windows of at most tokens each, that cover it without a gap:
// at sections where it can, then at paragraphs, lines, and words.
func Split(text string, sections []*workv1.Section, tokens int) []Window {
	var windows []Window
	filled := 0
	for _, piece := range pieces(text, sections, tokens) {
		cost := llm.EstimateTokens(text[piece.Start:piece.End])
		last := len(windows) - 1
		if last >= 0 && filled+cost <= tokens {
			windows[last].End = piece.End
			filled += cost
			continue
		}
		windows = append(windows, piece)
		filled = cost
	}
	return windows
}

// pieces are the sections, those that are too long cut further.
func pieces(text string, sections []*workv1.Section, tokens int) []Window {
	var list []Window
	covered := 0
	add := func(end int, path []string) {
		for covered < end {
			cut := covered + fitting(text[covered:end], tokens)
			list = append(list, Window{Start: covered, End: cut, HeadingPath: path})
			covered = cut
		}
	}
	var path []string
	for _, section := range sections {
		start := min(max(int(section.GetStart()), covered), len(text))
		add(start, path)
		path = section.GetHeadingPath()
		add(min(max(int(section.GetEnd()), covered), len(text)), path)
	}
	add(len(text), path)
	return list
}

// fitting is how many bytes of text fit into tokens, cut at the best place.
func fitting(text string, tokens int) int {
	if llm.EstimateTokens(text) <= tokens {
		return len(text)
	}
	low, high := 0, len(text)
	for low < high {
		mid := (low + high + 1) / 2
		if llm.EstimateTokens(text[:mid]) <= tokens {
			low = mid
		} else {
			high = mid - 1
		}
	}
	for _, end := range []string{"\n\n", "\n", ". ", " "} {
		at := strings.LastIndex(text[:low], end)
		if at > low/2 {
			return at + len(end)
		}
	}
	for low > 0 && !utf8.RuneStart(text[low]) {
		low--
	}
	return max(low, 1)
}

// Nearest keeps the most windows whose words are nearest to what is looked for, in
// the order of the page.
func Nearest(text string, windows []Window, wanted string, most int) []Window {
	if len(windows) <= most {
		return windows
	}
	words := lexis.Content(wanted)
	scores := make(map[int]int, len(windows))
	order := make([]int, len(windows))
	for i, window := range windows {
		order[i] = i
		scores[i] = hits(text[window.Start:window.End], words)
	}
	slices.SortStableFunc(order, func(a, b int) int { return scores[b] - scores[a] })
	kept := order[:most]
	slices.Sort(kept)
	nearest := make([]Window, 0, most)
	for _, i := range kept {
		nearest = append(nearest, windows[i])
	}
	return nearest
}

// hits counts the wanted words in text; each counts more the first times it occurs.
func hits(text string, wanted map[string]bool) int {
	const enough = 4
	counts := make(map[string]int)
	total := 0
	for _, word := range lexis.Words(text) {
		if !word.Stop && wanted[word.Stem] && counts[word.Stem] < enough {
			counts[word.Stem]++
			total += enough - counts[word.Stem] + 1
		}
	}
	return total
}
