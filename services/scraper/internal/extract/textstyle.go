package extract

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// textStyle is what can be seen in the words of a block alone.
type textStyle struct {
	stops        float32 // ends of sentences for a word
	commas       float32
	digits       float32 // share of its characters
	uppers       float32
	wordLength   float32
	small        float32 // share of words with at most three letters, all in lower case
	endsSentence bool
	startsUpper  bool
	dateLike     bool
	priced       bool
	separators   bool
	phrases      [phraseCount]bool
}

var (
	dateLike = regexp.MustCompile(`(?i)\b(\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}-\d\d-\d\d|(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}|\d{1,2}(st|nd|rd|th)? (jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|(hour|minute|day|week|month|year)s? ago|\d{1,2}:\d\d)`)
	priced   = regexp.MustCompile(`(?i)\d ?(kr|zł|usd|eur|gbp)\b`)
)

func styleOf(text string) textStyle {
	var s textStyle
	words, chars, run, lower := 0, 0, 0, true
	var last, before rune
	endWord := func() {
		if run > 0 {
			words++
			if run <= 3 && lower {
				s.small++
			}
		}
		run, lower = 0, true
	}
	for _, r := range text {
		chars++
		switch {
		case unicode.IsDigit(r):
			s.digits++
			run++
		case unicode.IsUpper(r):
			s.uppers++
			run++
			lower = false
		case unicode.IsLetter(r):
			run++
		default:
			if r == ' ' && (last == '.' || last == '!' || last == '?') && before != ' ' {
				s.stops++
			}
			if r == ',' || r == '、' || r == '،' {
				s.commas++
			}
			if r == '|' || r == '»' || r == '•' || r == '·' || r == '›' || r == '→' {
				s.separators = true
			}
			endWord()
		}
		before, last = last, r
	}
	endWord()
	s.endsSentence = strings.ContainsRune(".!?。！？…”\"’)", last) && words > 2
	if s.endsSentence {
		s.stops++
	}
	first, _ := utf8.DecodeRuneInString(text)
	s.startsUpper = unicode.IsUpper(first)
	n := float32(max(words, 1))
	s.stops, s.commas, s.small = s.stops/n, s.commas/n, s.small/n
	s.digits, s.uppers = s.digits/float32(max(chars, 1)), s.uppers/float32(max(chars, 1))
	s.wordLength = float32(chars) / n
	if len(text) < 200 && s.digits > 0 {
		s.priced = strings.ContainsAny(text, "$€£¥₹") || priced.MatchString(text)
		s.dateLike = mayBeDated(text) && dateLike.MatchString(text)
	}
	if len(text) < 400 {
		s.phrases = phrasesIn(strings.ToLower(text))
	}
	return s
}

// datedWords are the beginnings of the words that dateLike looks for.
const datedWords = "jan feb mar apr may jun jul aug sep oct nov dec ago"

// mayBeDated tells whether dateLike, which is slow, can match at all: it needs one
// of datedWords, or two digits with a mark between them.
func mayBeDated(text string) bool {
	for i := 0; i+2 < len(text); i++ {
		a, b, c := text[i], text[i+1], text[i+2]
		if isDigit(a) && isDigit(c) && (b == '.' || b == '/' || b == '-' || b == ':') {
			return true
		}
		word := [3]byte{a | 0x20, b | 0x20, c | 0x20}
		if isLetter(a) && isLetter(b) && isLetter(c) && strings.Contains(datedWords, string(word[:])) {
			return true
		}
	}
	return false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
