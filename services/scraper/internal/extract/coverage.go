package extract

import (
	"slices"
	"strings"
)

// shingleSize is how many words in a row must agree for a place of a page to be
// found again in another text.
const shingleSize = 4

// coverage tells for each block which share of its words stands in text, where
// text was made out of the same page. Short blocks are told apart by the words
// around them; of words that the page has more often than the text, those count
// that stand nearest to others that count.
func (o *outline) coverage(text string) []float32 {
	wanted, lines := shinglesOf(text)
	all := make([]uint64, 0, o.words)
	for i := range o.blocks {
		all = append(all, o.blocks[i].tokens...)
	}
	covered := markCovered(all, wanted)
	shares := make([]float32, len(o.blocks))
	for i := range o.blocks {
		b := &o.blocks[i]
		if len(b.tokens) == 0 {
			continue
		}
		n := 0
		for k := range b.tokens {
			if covered[b.starts+k] {
				n++
			}
		}
		shares[i] = float32(n) / float32(len(b.tokens))
		if len(b.tokens) < shingleSize && n < len(b.tokens) && lines[mix(b.tokens)] {
			shares[i] = 1
		}
	}
	return shares
}

// markCovered marks the words of a page that wanted shingles cover.
func markCovered(all []uint64, wanted map[uint64]int) []bool {
	covered := make([]bool, len(all))
	places := map[uint64][]int{}
	for i := 0; i+shingleSize <= len(all); i++ {
		if h := mix(all[i : i+shingleSize]); wanted[h] > 0 {
			places[h] = append(places[h], i)
		}
	}
	cover := func(at int) {
		for k := range shingleSize {
			covered[at+k] = true
		}
	}
	for h, at := range places {
		if len(at) <= wanted[h] {
			for _, i := range at {
				cover(i)
			}
		}
	}
	away := distances(covered)
	for h, at := range places {
		n := wanted[h]
		if len(at) <= n {
			continue
		}
		slices.SortStableFunc(at, func(a, b int) int { return away[a] - away[b] })
		for _, i := range at[:n] {
			cover(i)
		}
	}
	return covered
}

// distances is how far each place is from the nearest marked one.
func distances(marked []bool) []int {
	away := make([]int, len(marked))
	last := -len(marked)
	for i, m := range marked {
		if m {
			last = i
		}
		away[i] = i - last
	}
	last = 2 * len(marked)
	for i := len(marked) - 1; i >= 0; i-- {
		if marked[i] {
			last = i
		}
		away[i] = min(away[i], last-i)
	}
	return away
}

// shinglesOf counts each run of shingleSize words of a text, hashed, and tells
// which lines it has.
func shinglesOf(text string) (map[uint64]int, map[uint64]bool) {
	tokens := tokensOf(text)
	shingles := make(map[uint64]int, len(tokens))
	for i := 0; i+shingleSize <= len(tokens); i++ {
		shingles[mix(tokens[i:i+shingleSize])]++
	}
	lines := map[uint64]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		if words := tokensOf(line); len(words) > 0 {
			lines[mix(words)] = true
		}
	}
	return shingles, lines
}

// mix hashes a run of hashes, in order.
func mix(tokens []uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, t := range tokens {
		h = (h ^ t) * 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	return h
}
