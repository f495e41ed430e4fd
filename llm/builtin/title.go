package builtin

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// shortestTitle is what a part of a prompt needs to stand for the whole of it.
const shortestTitle = 25

// unfinished opens what a comma does not end.
var unfinished = regexp.MustCompile(`(?i)^(?:between|if|while|when|although|given|considering|after|before|since|despite|as|in|on|for|with)\b`)

// title names the report, and says whether that is the whole prompt: a prompt that is
// too long gives its first sentence, clause or phrase, whichever is short enough.
func (s *subject) title() (string, bool) {
	if s.prompt == "" {
		return "Report", true
	}
	if bare := bareTitle(s.prompt); len(bare) <= titleBytes && bare != "" {
		return bare, true
	}
	if first := s.lex.sentences(s.prompt); len(first) > 0 {
		if bare := bareTitle(s.prompt[first[0].start:first[0].end]); len(bare) >= shortestTitle && len(bare) <= titleBytes {
			return bare, false
		}
	}
	if len(s.clauses) > 0 && !unfinished.MatchString(s.prompt) {
		if bare := bareTitle(s.clauses[0]); len(bare) >= shortestTitle && len(bare) <= titleBytes {
			return capitalised(bare), false
		}
	}
	for _, mark := range []string{"; ", ": ", " – ", " — ", ", "} {
		if at := strings.LastIndex(cut(s.prompt, titleBytes), mark); at >= shortestTitle && !unfinished.MatchString(s.prompt) {
			return bareTitle(s.prompt[:at]), false
		}
	}
	if label := s.label(); utf8.RuneCountInString(label) > 3 && label != "the subject" && !strings.HasSuffix(label, "…”") && len(label) <= titleBytes {
		return capitalised(label), false
	}
	return shorten(s.prompt, titleBytes), false
}

// bareTitle is a sentence without the mark at its end.
func bareTitle(s string) string {
	return strings.TrimSpace(strings.TrimRight(strings.TrimSpace(s), "?.!,;: "))
}
