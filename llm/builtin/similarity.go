package builtin

import "strings"

// termSet is the distinct terms of a text.
type termSet map[string]struct{}

func newTermSet(terms []string) termSet {
	set := make(termSet, len(terms))
	for _, term := range terms {
		set[term] = struct{}{}
	}
	return set
}

func (s termSet) has(term string) bool {
	_, in := s[term]
	return in
}

// shared counts the terms that both sets have.
func (s termSet) shared(other termSet) int {
	if len(other) < len(s) {
		s, other = other, s
	}
	count := 0
	for term := range s {
		if other.has(term) {
			count++
		}
	}
	return count
}

// jaccard is the share of the terms of either that both have.
func (s termSet) jaccard(other termSet) float64 {
	if len(s) == 0 && len(other) == 0 {
		return 1
	}
	shared := s.shared(other)
	return float64(shared) / float64(len(s)+len(other)-shared)
}

// within is the share of the terms of s that other has too.
func (s termSet) within(other termSet) float64 {
	if len(s) == 0 {
		return 0
	}
	return float64(s.shared(other)) / float64(len(s))
}

// numbersWithin says whether every number of s is in other.
func (s termSet) numbersWithin(other termSet) bool {
	for term := range s {
		if isNumber(term) && !other.has(term) {
			return false
		}
	}
	return true
}

// negated says whether a sentence denies something. Two sentences that differ
// in this do not say the same, however many words they share.
func negated(sentence string) bool {
	lower := " " + strings.ToLower(strings.ReplaceAll(sentence, "’", "'")) + " "
	for _, mark := range []string{
		" not ", "n't ", " no ", " never ", " neither ", " nor ", " without ", " cannot ",
		" none ", " denied ", " denies ", " failed to ", " fails to ", " unlikely ",
	} {
		if strings.Contains(lower, mark) {
			return true
		}
	}
	return false
}
