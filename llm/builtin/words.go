package builtin

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/clipperhouse/uax29/v2/words"
)

// word is one word of a text with its place in it.
type word struct {
	text       string
	start, end int
	// stem is what words are compared by: lower case, without inflection in English.
	stem string
	// stop marks a word that carries no meaning of its own.
	stop bool
}

// lexer turns text into words. It remembers stems, since a page repeats its
// words, and so is for one goroutine.
type lexer struct {
	english bool
	stems   map[string]string
}

func newLexer(isEnglish bool) *lexer {
	return &lexer{english: isEnglish, stems: map[string]string{}}
}

// words gives the words of s, numbers included, in order.
func (l *lexer) words(s string) []word {
	var found []word
	tokens := words.FromString(s)
	for tokens.Next() {
		text := tokens.Value()
		if !isWord(text) {
			continue
		}
		start := tokens.Start()
		lower := normalise(text)
		if lower == "" {
			continue
		}
		found = append(found, word{
			text: text, start: start, end: start + len(text),
			stem: l.stem(lower), stop: l.isStop(lower),
		})
	}
	return found
}

// terms gives the stems of the words of s that mean something. Neighbouring
// ideographs are joined to pairs, since one alone is rarely a word.
func (l *lexer) terms(s string) []string {
	found := l.words(s)
	terms := make([]string, 0, len(found))
	for i, w := range found {
		if w.stop {
			continue
		}
		terms = append(terms, w.stem)
		if i > 0 && found[i-1].end == w.start && isIdeograph(w.text) && isIdeograph(found[i-1].text) {
			terms = append(terms, found[i-1].stem+w.stem)
		}
	}
	return terms
}

// set is terms without repetition.
func (l *lexer) set(s string) termSet {
	return newTermSet(l.terms(s))
}

func (l *lexer) stem(lower string) string {
	if !l.english || len(lower) < 3 || !isASCIILetters(lower) {
		return lower
	}
	if stem, known := l.stems[lower]; known {
		return stem
	}
	env := snowballstem.NewEnv(lower)
	english.Stem(env)
	stem := env.Current()
	l.stems[lower] = stem
	return stem
}

func (l *lexer) isStop(lower string) bool {
	if l.english && isStopWord(lower) || !l.english && foreignStops.has(lower) {
		return true
	}
	return len(lower) == 1 && !isDigit(lower[0])
}

// longestWord bounds what is compared: a longer run of letters is no word.
const longestWord = 64

func normalise(text string) string {
	if len(text) > longestWord {
		text = cut(text, longestWord)
	}
	lower := strings.ToLower(text)
	lower = strings.ReplaceAll(lower, "’", "'")
	lower = strings.TrimSuffix(lower, "'s")
	if isDigit(lower[0]) {
		lower = strings.ReplaceAll(lower, ",", "")
	}
	return strings.Trim(lower, "'._")
}

func isWord(text string) bool {
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return true
		}
	}
	return false
}

func isNumber(stem string) bool {
	return stem != "" && isDigit(stem[0])
}

func isDigit(b byte) bool {
	return b >= '0' && b <= '9'
}

func isASCIILetters(s string) bool {
	for i := range len(s) {
		if b := s[i]; (b < 'a' || b > 'z') && b != '\'' {
			return false
		}
	}
	return true
}

func isIdeograph(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// cut shortens s to at most limit bytes without cutting a character in two.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
