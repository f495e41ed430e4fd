package builtin

import (
	"regexp"
	"strings"
)

// relations tell what a prompt asks about its themes, and what sentences that answer
// this have in common.
var relations = []struct {
	asked, answered *regexp.Regexp
	// name is what the relation is called where nothing was found on it.
	name string
}{
	{
		regexp.MustCompile(`(?i)\b(?:when|where|why|which) (?:should|would|to|do|does|is|are|can|could|must)\b.{0,60}\b(?:use[ds]?|using|choose|chosen|pick|prefer\w*|adopt\w*|better|appropriate|suitable|suited)\b|\bwhen to (?:use|choose)\b|\bwhich (?:\w+ )?(?:should|is better)\b`),
		regexp.MustCompile(`(?i)\b(?:fits?|fitted|suits?|suited|suitable|good for|best for|better for|chosen? (?:when|for|if)|choose|prefer\w*|favou?rs?|useful (?:for|when|where)|(?:use|used|using) (?:when|for|where|if|as)|worth|(?:is|are) enough|recommended|right (?:tool|choice)|where many|if you)\b`),
		"when to use each",
	},
	{
		regexp.MustCompile(`(?i)\b(?:differ\w*|compar\w+|contrast|versus|vs|distinguish\w*|better than)\b`),
		regexp.MustCompile(`(?i)\b(?:while|whereas|unlike|instead|rather than|in contrast|by contrast|than|both|neither|only|on the other hand|differ\w*|more|less|fewer)\b`),
		"how they differ",
	},
	{
		regexp.MustCompile(`(?i)\breplac\w+|\binstead of\b|\balternatives?\b`),
		regexp.MustCompile(`(?i)\b(?:instead|replac\w+|rather than|in place of|alternatives?|without|gives? up|avoids?|undo(?:es)?|no longer)\b`),
		"what is replaced",
	},
	{
		regexp.MustCompile(`(?i)\b(?:surviv\w*|tolerat\w*|fail\w*|crash\w*|outages?)\b`),
		regexp.MustCompile(`(?i)\b(?:surviv\w*|tolerat\w*|fail\w*|crash\w*|los[est]\w*|dies?|down|outages?|recover\w*)\b`),
		"what happens in failures",
	},
	{
		regexp.MustCompile(`(?i)^why\b|\b(?:why|reasons?|caus(?:es?|ed))\b`),
		regexp.MustCompile(`(?i)\b(?:because|since|so that|therefore|caus\w+|reasons?|leads? to|led to|results? in|due to|after)\b`),
		"why",
	},
}

// relation gives the pattern of the sentences that answer one of the relations that the
// prompt asks for, or nil.
func (s *subject) relation() *regexp.Regexp {
	if !s.lex.english {
		return nil
	}
	for _, r := range relations {
		if r.asked.MatchString(s.prompt) {
			return r.answered
		}
	}
	return nil
}

// definer ends the subject of a sentence that says what it is.
var definer = regexp.MustCompile(`(?i)^(?:\s*\([^()]{1,60}\)|,[^,]{1,80},)?\s+(?:(?:is|are) (?:an?|the|one|any|called|\w+ (?:of|for|that))\b|means\b|refers to\b|stands for\b|denotes\b)`)

// defining says whether a sentence tells what a theme is: it begins with words of the
// theme alone, and goes on with a verb that defines.
func (l *lexer) defining(sentence string, t *theme) bool {
	rest := leadingSmall.ReplaceAllString(strings.TrimLeft(sentence, `"“`), "")
	for _, w := range l.words(cut(rest, 80)) {
		if !t.terms.has(w.stem) {
			return false
		}
		if definer.MatchString(rest[w.end:]) {
			return true
		}
	}
	return false
}
