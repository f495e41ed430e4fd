package builtin

import "strings"

const (
	// strayShare is what a finding keeps of its value in a sentence that has only common
	// words of the prompt, and passingShare one that stands far from the prompt's words.
	strayShare   = 0.1
	passingShare = 0.3
	// besideWords is how far a word may stand from another to be beside it.
	besideWords = 8
)

// beside says whether a name stands near a word of the prompt that is not common.
func (l *lexer) beside(claim, name string, asked termSet) bool {
	at := strings.Index(claim, name)
	if at < 0 {
		return true
	}
	words := l.words(claim)
	first, last := -1, -1
	for i, w := range words {
		if w.start >= at && w.end <= at+len(name) {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		return true
	}
	for i := max(0, first-besideWords); i <= min(len(words)-1, last+besideWords); i++ {
		if asked.has(words[i].stem) && l.weight(words[i].stem) > weightFrequent {
			return true
		}
	}
	return false
}
