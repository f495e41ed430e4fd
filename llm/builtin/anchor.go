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
