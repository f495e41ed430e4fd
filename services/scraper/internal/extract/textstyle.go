package extract

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// phraseCount is how many families of set phrases are told apart.
const phraseCount = 8

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

// setPhrases are what furniture says, in the languages that are common on the web.
var setPhrases = [phraseCount]*regexp.Regexp{
	regexp.MustCompile(`©|\(c\) ?\d{4}|copyright|all rights reserved|terms of (use|service)|privacy policy|impressum|alle rechte|tous droits|todos los derechos|datenschutz`),
	regexp.MustCompile(`cookie|javascript|browser|gdpr|consent`),
	regexp.MustCompile(`subscribe|newsletter|sign ?up|inbox|abonn|suscr|e-?mail (address|updates)|free trial|get started`),
	regexp.MustCompile(`^(share|tweet|pin|print|email|copy|save|facebook|twitter|linkedin|whatsapp|follow)\b|share (this|on|via)|follow us|teilen|partager|compartir|click to share`),
	regexp.MustCompile(`read more|read also|more (from|on|stories|news)|related|you (may|might) (also|like)|also (read|see)|see also|recommended|trending|most (read|popular)|continue reading|view (all|more)|load more|show more|learn more|lire aussi|lesen sie|mehr zum|leia mais|leer m|up next|don't miss|what to read next`),
	regexp.MustCompile(`\b(log|sign) ?in\b|my account|add to (cart|bag|basket|wish)|checkout|wishlist|register\b|join date|\bposts:|\breply\b|\breplies\b|\bviews?\b|\bquote\b|report (abuse|post)|leave a (comment|reply)|post a comment|\bcomments?\b|likes?$|upvote|permalink`),
	regexp.MustCompile(`^(by|written by|posted by|posted on|published|updated|last (updated|modified)|edited|von|par|por|photo|image|credit|source)\b|min read|minute read|contributed to this|staff writer|reporting by|editing by`),
	regexp.MustCompile(`advert|sponsored|promoted|affiliate|commission|partner content|disclosure`),
}

var (
	dateLike = regexp.MustCompile(`(?i)\b(\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}-\d\d-\d\d|(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}|\d{1,2}(st|nd|rd|th)? (jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|(hour|minute|day|week|month|year)s? ago|\d{1,2}:\d\d)`)
	priced   = regexp.MustCompile(`[$€£¥₹] ?\d|\d ?(€|kr|zł|usd|eur|gbp)\b`)
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
	s.priced = len(text) < 200 && priced.MatchString(text)
	s.dateLike = len(text) < 200 && dateLike.MatchString(text)
	if len(text) < 400 {
		low := strings.ToLower(text)
		for i, re := range setPhrases {
			s.phrases[i] = re.MatchString(low)
		}
	}
	return s
}
