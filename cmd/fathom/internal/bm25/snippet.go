package bm25

import (
	"slices"
	"strings"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// Snippet returns the run of sentences of text that says most about the query, of
// about limit bytes, with white space collapsed.
func (x *Index) Snippet(text, query string, limit int) string {
	wanted := distinct(query)
	all := split(text)
	best, bestWeight := 0, -1.0
	for i := range all {
		weight := x.weigh(window(all[i:], limit), wanted)
		if weight > bestWeight {
			best, bestWeight = i, weight
		}
	}
	if len(all) == 0 {
		return ""
	}
	return cut(strings.Join(window(all[best:], limit), " "), limit)
}

// weigh adds up the rarity of the wanted terms that the sentences hold.
func (x *Index) weigh(lines []string, wanted []string) float64 {
	weight := 0.0
	found := make(map[string]bool)
	for _, line := range lines {
		for term := range Terms(line) {
			if !found[term] && slices.Contains(wanted, term) {
				found[term] = true
				weight += x.rarity(term)
			}
		}
	}
	return weight
}

// window is the longest start of lines that fits limit, and one line at least.
func window(lines []string, limit int) []string {
	size := 0
	for i, line := range lines {
		size += len(line) + 1
		if size > limit && i > 0 {
			return lines[:i]
		}
	}
	return lines
}

func split(text string) []string {
	var all []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		tokens := sentences.FromString(paragraph)
		for tokens.Next() {
			sentence := strings.Join(strings.Fields(tokens.Value()), " ")
			if sentence != "" {
				all = append(all, sentence)
			}
		}
	}
	return all
}

// cut shortens text to limit bytes at a space, and says so with an ellipsis.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := strings.LastIndexByte(text[:limit], ' ')
	if end <= 0 {
		end = limit
	}
	return strings.ToValidUTF8(text[:end], "") + " …"
}
