package builtin

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	fewestWords = 5
	mostWords   = 90
)

// wholeSentence says whether a piece of text reads as a sentence of its own: not
// a question, not a heading or a caption, not the rest of something.
func (l *lexer) wholeSentence(claim string, kind blockKind) bool {
	if claim == "" || strings.HasSuffix(strings.TrimRight(claim, `"'”’)`), "?") {
		return false
	}
	if !l.english {
		return len(claim) >= 20 && endsSentence(claim)
	}
	count := len(strings.Fields(claim))
	if count < fewestWords || count > mostWords {
		return false
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(claim, `"'“‘([`))
	if !unicode.IsUpper(first) && !unicode.IsDigit(first) && !strings.ContainsRune("$£€", first) && !camelStart(claim) {
		return false
	}
	if endsSentence(claim) {
		return balanced(claim)
	}
	// The items of a list often lack their full stop.
	return kind == listItem && count >= 9 && hasVerb(claim) && !strings.HasSuffix(claim, ":")
}

// camelStart is true for names such as iPhone and eBay.
func camelStart(claim string) bool {
	word, _, _ := strings.Cut(claim, " ")
	return strings.IndexFunc(word, unicode.IsUpper) > 0
}

func endsSentence(claim string) bool {
	end := strings.TrimRight(claim, ` "'”’)]»*_`)
	if strings.HasSuffix(end, "...") || strings.HasSuffix(end, "…") {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(end)
	return strings.ContainsRune(".!。！।։؟。", last)
}

// balanced is false for a sentence that was cut inside a quotation or brackets.
func balanced(claim string) bool {
	return strings.Count(claim, "“") <= strings.Count(claim, "”")+1 && strings.Count(claim, "(") == strings.Count(claim, ")")
}

var commonVerbs = wordSet(`is are was were be been has have had does do did can could will would may might must should
said says made make makes became become include includes included provides use uses used shows show found led`)

func hasVerb(claim string) bool {
	for _, field := range strings.Fields(strings.ToLower(claim)) {
		field = strings.Trim(field, ".,;:()\"'")
		if commonVerbs.has(field) || len(field) > 4 && (strings.HasSuffix(field, "ed") || strings.HasSuffix(field, "ing")) {
			return true
		}
	}
	return false
}

var (
	backPronoun = regexp.MustCompile(`^["“'‘(]?(?:(?:But|And|So|Yet|However,|Still,|Then|Also,|Instead,|In addition,|Moreover,|Furthermore,|Meanwhile,|Later,|Nevertheless,|Additionally,) )?(?i:he|she|it|they|his|her|hers|their|theirs|its|him|them|these|those|this|such|both|neither|the (?:former|latter)|another|others|some of them|most of them)\b`)
	backLink    = regexp.MustCompile(`^(?:However|As with|Therefore|Thus|Hence|Consequently|As a result|For example|For instance|In contrast|By contrast|Similarly|Conversely|Instead|Otherwise|Nevertheless|Nonetheless|That is|That was|That means|That's|Doing so|Even so|If so|In turn|But|And|Or|So|Because of this|In this|In that|At this|At that|On the other hand|Afterwards?|Then)\b`)
	emptyIt     = regexp.MustCompile(`^["“]?(?:It (?:is|was|has been|may be|might be|could be|would be|will be|seems?|appears?|turns out|remains) (?:\w+ ){0,2}(?:that|to|whether|why|how|when|who)\b|This (?:week|month|year|morning|article|page|study|paper|review|guide|season)\b|Those who\b|Both \w+ and\b|These days\b|Such as\b)`)
)

// leansBack says whether a sentence needs the one before to be understood.
func leansBack(claim string) bool {
	return (backPronoun.MatchString(claim) || backLink.MatchString(claim)) && !emptyIt.MatchString(claim)
}

var (
	// abstractLabel opens the parts of a structured abstract.
	abstractLabel = regexp.MustCompile(`^(?:(?:BACKGROUND|CONTEXT|IMPORTANCE|INTRODUCTION|RATIONALE|AIMS?|OBJECTIVES?|PURPOSE|HYPOTHESIS|DESIGN|SETTING|PARTICIPANTS|PATIENTS|SUBJECTS|MATERIALS?|INTERVENTIONS?|EXPOSURES?|METHODS?|METHODOLOGY|MAIN OUTCOMES?|MEASURES?|MEASUREMENTS?|OUTCOMES?|RESULTS?|FINDINGS|DISCUSSION|INTERPRETATION|CONCLUSIONS?|RELEVANCE|SIGNIFICANCE|SUMMARY|FUNDING|LIMITATIONS?|DATA SOURCES?|STUDY SELECTION|PRINCIPAL FINDINGS)(?:(?: AND |/|, | & | )?(?:AND )?(?:PURPOSE|AIMS?|METHODS?|RESULTS?|DESIGN|SETTING|MEASURES?|FINDINGS|RELEVANCE|PATIENTS|PARTICIPANTS|SIGNIFICANCE|OBJECTIVES?|CONCLUSIONS?|OUTCOMES?))*[:.]? )([A-Z0-9"“(].*)$`)
	// howItWasDone tells how a study went about it, and not what came out.
	howItWasDone = regexp.MustCompile(`^(?:We|I|In this (?:study|paper|review|article|work),? we|Here,? we|The (?:aim|purpose|objective|goal)s? of (?:this|the|our)|This (?:study|paper|review|article|work) (?:aim|was|is|describe|examine|investigate|has been)\w*|To (?:determine|assess|evaluate|investigate|examine|test|compare|identify|describe|study|explore|review)\b)(?: (?:also|then|prospectively|retrospectively|here|further|therefore|systematically))*(?: (?:aim|assess|evaluat|investigat|examin|perform|conduct|analy[sz]|undert|random|recruit|enrol|measur|studi|search|screen|collect|review|us|sought|explor|test|compar|describ|discuss|includ|calculat|appl|develop|propos|hypothesi[sz]|present|report|had|were|was|is|to)\w*)?\b`) //nolint:misspell // the stem of including and includes
)

// withoutLabel leaves the label of a structured abstract out of a claim.
func withoutLabel(claim string) string {
	if match := abstractLabel.FindStringSubmatch(claim); match != nil {
		return match[1]
	}
	return claim
}
