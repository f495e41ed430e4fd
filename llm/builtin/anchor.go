package builtin

import (
	"regexp"
	"strings"
)

// dangles says whether a sentence has no place in a report: it sends the reader away,
// orders something about what is not quoted, or is a caption without a verb.
func (l *lexer) dangles(sentence string) bool {
	return pointer.MatchString(sentence) || elsewhere.MatchString(sentence) || orders.MatchString(sentence) && leansOn.MatchString(sentence) ||
		len(strings.Fields(sentence)) < shortest && l.fragment(sentence)
}

// elsewhere speaks of what only the page shows.
var elsewhere = regexp.MustCompile(`\b(?:shown|listed|given|described|mentioned|displayed) (?:above|below)\b`)

// shortest is what a sentence without a known verb needs to be taken for one.
const shortest = 7

// anchored tells which facts bear on the prompt by more than one word in common. A
// single word is enough when it belongs to what the prompt is about: its names and its
// first topic. Other words mean something else elsewhere.
func (s *subject) anchored() func(*fact) bool {
	asked := newTermSet(s.lex.informative(s.prompt))
	for _, term := range s.lex.historyTerms(s.prompt) {
		delete(asked, term)
	}
	about := s.lex.set(strings.Join(s.names, " . ") + " . " + strings.Join(s.sides, " . ") + " . " + s.firstTopic())
	if len(asked) < 2 || about.shared(asked) == 0 {
		return func(*fact) bool { return true }
	}
	return func(f *fact) bool {
		around := s.surroundings(f)
		count, anchor := 0, false
		for term := range asked {
			if f.set.has(term) || around.title.has(term) || around.address.has(term) {
				count++
				anchor = anchor || about.has(term)
			}
		}
		return count > 1 || anchor
	}
}
