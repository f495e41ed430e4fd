package builtin

import (
	"strings"
	"unicode/utf8"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

const (
	// longestText is how much of a page is read. What is beyond it is not
	// article text any more, and time stays bounded.
	longestText = 4 << 20
	// longestQuote bounds a quote; a longer run without a full stop is no sentence.
	longestQuote = 700
	// mostCandidates bounds the sentences that are weighed against each other.
	mostCandidates = 20000
)

// candidate is a sentence that may be extracted.
type candidate struct {
	start, end int
	claim      string
	block      int
	path       []string
	page       int32
	terms      []string
	set        termSet
	// hanging is a sentence that leans on the one before ("He said …") and
	// could not be joined to it.
	hanging bool
	// thin is a sentence that has a single term of what was asked, and none around it.
	thin  bool
	score float64
	// relevance is the share of what was asked that the sentence covers.
	relevance float64
}

// candidates are the sentences of a page that can stand in a report.
func (l *lexer) candidates(text string, sections []*workv1.Section) []candidate {
	text = cut(text, longestText)
	var found []candidate
	seen := map[string]bool{}
	all := blocks(text, sections)
	for i, b := range all {
		if len(found) >= mostCandidates {
			break
		}
		if i > 0 {
			b.term = term(text, all[i-1], b)
		}
		for _, c := range l.blockCandidates(text, b) {
			key := strings.ToLower(c.claim)
			if seen[key] {
				continue
			}
			seen[key] = true
			c.block, c.path, c.page = i, b.path, b.page
			found = append(found, c)
		}
	}
	return found
}

func (l *lexer) blockCandidates(text string, b block) []candidate {
	if furnitureBlock(text[b.start:b.end], b.path) {
		return nil
	}
	if b.kind == tableRow {
		return l.rowCandidate(text, b)
	}
	var found []candidate
	var before span
	for _, sp := range l.sentences(text[b.start:b.end]) {
		sp.start, sp.end = sp.start+b.start, sp.end+b.start
		c, ok := l.sentenceCandidate(text, b, sp, before)
		if ok {
			found = append(found, c)
		}
		before = sp
	}
	return found
}

func (l *lexer) sentenceCandidate(text string, b block, sp, before span) (candidate, bool) {
	sp = openingMarks(text, sp)
	if sp.end-sp.start > longestQuote || !utf8.ValidString(text[sp.start:sp.end]) {
		return candidate{}, false
	}
	claim := withoutLabel(plain(text[sp.start:sp.end]))
	if !l.wholeSentence(claim, b.kind) {
		return candidate{}, false
	}
	c := candidate{start: sp.start, end: sp.end, claim: claim}
	if l.english && b.term.end > 0 && sp.start <= b.start+2 && noSubject.MatchString(claim) {
		c.start = b.term.start
		c.claim = strings.TrimRight(plain(text[b.term.start:b.term.end]), " :") + ": " + lowered(claim)
	} else if l.english && leansBack(claim) {
		c = l.joinBefore(text, c, before)
	}
	c.terms = l.terms(c.claim)
	c.set = newTermSet(c.terms)
	return c, len(c.set) > 2 || !l.english && len(c.set) > 0
}

// joinBefore takes the sentence before into one that leans on it.
func (l *lexer) joinBefore(text string, c candidate, before span) candidate {
	c.hanging = true
	if before.end == 0 || c.end-before.start > longestQuote || !utf8.ValidString(text[before.start:c.end]) {
		return c
	}
	before = openingMarks(text, before)
	earlier := plain(text[before.start:before.end])
	if furniture(earlier) || !l.wholeSentence(earlier, paragraph) {
		return c
	}
	c.hanging = leansBack(earlier)
	c.start = before.start
	c.claim = withoutLabel(plain(text[c.start:c.end]))
	return c
}

// rowCandidate reads a table's row together with its header.
func (l *lexer) rowCandidate(text string, b block) []candidate {
	row := text[b.start:b.end]
	if len(row) > longestQuote || !utf8.ValidString(row) {
		return nil
	}
	values := cells(row)
	if navigation(b.header) || navigation(values) {
		return nil
	}
	var parts []string
	figures := false
	for i, value := range values {
		if !isWord(value) {
			continue
		}
		if i > 0 && i < len(b.header) && b.header[i] != "" {
			value = b.header[i] + ": " + value
		}
		figures = figures || i > 0 && strings.ContainsAny(value, "0123456789")
		parts = append(parts, value)
	}
	if len(parts) < 2 || !figures || !isWord(values[0]) {
		return nil
	}
	claim := parts[0] + " — " + strings.Join(parts[1:], "; ") + "."
	terms := l.terms(claim)
	return []candidate{{start: b.start, end: b.end, claim: claim, terms: terms, set: newTermSet(terms)}}
}

// openingMarks leaves closing marks of the sentence before, and footnote
// numbers, out of the start of a sentence.
func openingMarks(text string, sp span) span {
	for sp.start < sp.end && sp.end-sp.start <= 2*longestQuote {
		rest := text[sp.start:sp.end]
		mark := footMark.FindStringIndex(rest)
		switch {
		case mark != nil && mark[0] == 0:
			sp.start += mark[1]
		case strings.HasPrefix(rest, "”") || strings.HasPrefix(rest, "’"):
			sp.start += len("”")
		case rest[0] == ')' || rest[0] == ']' || rest[0] == '>':
			sp.start++
		default:
			return sp
		}
		sp = trimSpan(text, sp)
	}
	return sp
}
