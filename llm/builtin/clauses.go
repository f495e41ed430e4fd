package builtin

import (
	"regexp"
	"strings"
)

var (
	clauseBreak = regexp.MustCompile(`(?i),?\s+(?:while|whereas|but|and whether|as opposed to)\s+|;\s+|,?\s+and\s+(what|how|why|who|when|where|which|does|did|is|are|was|were|has|have|also)\b`)
	// longBreak parts what is still long: at a comma, or where more of the same is told.
	longBreak = regexp.MustCompile(`(?i),\s+(?:(?:and|who|which|or)\s+)?|\s+(?:as well as|and also|but also|along with|and the)\s+`)
)

// longClause is the number of telling words from which a clause asks for more
// than one thing.
const longClause = 10

// clauses parts a prompt that asks for several things. A part that says too
// little by itself stays with the one before.
func (l *lexer) clauses(prompt string) []string {
	var parts []string
	for _, sentence := range l.sentences(prompt) {
		for _, part := range splitClauses(prompt[sentence.start:sentence.end]) {
			if len(newTermSet(l.informative(part))) <= longClause {
				parts = l.addClause(parts, part)
				continue
			}
			for _, smaller := range longBreak.Split(part, -1) {
				parts = l.addClause(parts, smaller)
			}
		}
	}
	if len(parts) > 12 {
		parts = parts[:12]
	}
	return parts
}

// splitClauses cuts a sentence where another question begins, which keeps its
// question word.
func splitClauses(sentence string) []string {
	var parts []string
	start := 0
	for _, match := range clauseBreak.FindAllStringSubmatchIndex(sentence, -1) {
		parts = append(parts, sentence[start:match[0]])
		start = match[1]
		if match[2] >= 0 {
			start = match[2]
		}
	}
	return append(parts, sentence[start:])
}

var questionWord = regexp.MustCompile(`(?i)^(?:what|how|why|who|when|where|which)\b`)

// addClause joins a part to the one before when it or that one says too little.
func (l *lexer) addClause(parts []string, part string) []string {
	part = strings.Trim(part, " ,;?.")
	last := len(parts) - 1
	switch {
	case part == "":
		return parts
	case last >= 0 && questionWord.MatchString(part) && questionWord.MatchString(parts[last]) && len(newTermSet(l.informative(part))) > 1:
	case last >= 0 && (len(newTermSet(l.informative(part))) < 4 || len(newTermSet(l.informative(parts[last]))) < 4):
		parts[last] += ", " + part
		return parts
	}
	return append(parts, part)
}
