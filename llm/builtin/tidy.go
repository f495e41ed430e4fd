package builtin

import (
	"regexp"
	"strings"
)

var (
	// sendsAway is a remark that sends the reader to another place of the page.
	sendsAway = regexp.MustCompile(`(?i)\s*\((?:please )?(?:see|cf\.|refer to|as (?:described|explained|shown|discussed) in|described in|compare)\s[^()]{2,120}\)`)
	// endsAway is the same at the end of a sentence.
	endsAway = regexp.MustCompile(`(?i)[;,]\s+(?:please )?(?:see(?: also)?|refer to|as (?:described|explained|shown|discussed) (?:in|above|below))\b[^;.]{0,100}\.$|;\s+(?:see(?: also)?|compare) [^;.]{2,100}\.`)
	// linkWord binds a sentence to the one before, which is not there in a report.
	linkWord = regexp.MustCompile(`^(?:(?:However|Therefore|Thus|Hence|Consequently|Moreover|Furthermore|Additionally|In addition|Also|Still|Nevertheless|Nonetheless|Similarly|Likewise|Instead|Meanwhile|As a result|By contrast|In contrast|Conversely|On the other hand|For example|For instance|Finally|Of course|In fact|Indeed|Specifically|In particular|In short|In other words|That said|As such|Again|Otherwise|So|Then|Yet|And|But),\s+|(?:Please )?[Nn]ote(?:,? however,?)? that\s+|(?:But|And|So|Yet|Thus)\s+)`)
)

// tidied is a sentence as it can stand alone: without the word that binds it to the one
// before, and without remarks that send the reader elsewhere.
func (l *lexer) tidied(sentence string) string {
	if !l.english {
		return sentence
	}
	short := sentence
	if strings.Contains(short, "(") {
		short = sendsAway.ReplaceAllString(short, "")
	}
	short = endsAway.ReplaceAllString(short, ".")
	if link := linkWord.FindString(short); link != "" {
		short = short[len(link):]
		if word, _, _ := strings.Cut(short, " "); !strings.ContainsAny(word, "_.(") {
			short = capitalised(short)
		}
	}
	if len(strings.Fields(short)) < fewestWords {
		return sentence
	}
	return short
}
