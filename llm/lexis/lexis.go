// Package lexis compares texts by their words: stems, figures, names, and what is
// denied. It knows English; words of other languages are compared as they are.
package lexis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// Word is one word of a text.
type Word struct {
	// Text is the word as it stands; Stem is what it is compared by.
	Text string
	Stem string
	// Stop says that the word carries no content of its own.
	Stop bool
	// Number says that the word is a figure; Stem is then its plain form.
	Number bool
	// Initial says that the word begins a sentence, so that its capital says nothing.
	Initial bool
}

// Words splits text. Scripts without spaces are split into single characters.
func Words(text string) []Word {
	var words []Word
	initial := true
	for pos := 0; pos < len(text); {
		r, size := utf8.DecodeRuneInString(text[pos:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			if strings.ContainsRune(".!?:;\n•|", r) {
				initial = true
			}
			pos += size
			continue
		}
		end := wordEnd(text, pos)
		for _, part := range parts(text[pos:end]) {
			word := newWord(part)
			word.Initial = initial
			words = append(words, word)
			initial = false
		}
		pos = end
	}
	return words
}

func wordEnd(text string, pos int) int {
	first, size := utf8.DecodeRuneInString(text[pos:])
	if spaceless(first) {
		return pos + size
	}
	for pos < len(text) {
		r, size := utf8.DecodeRuneInString(text[pos:])
		inWord := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || joins(text, pos, r, size)
		if spaceless(r) || !inWord {
			break
		}
		pos += size
	}
	return pos
}

// joins reports whether r holds two halves of one word or figure together.
func joins(text string, pos int, r rune, size int) bool {
	if pos == 0 {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:pos])
	after, _ := utf8.DecodeRuneInString(text[pos+size:])
	switch r {
	case '\'', '’':
		return unicode.IsLetter(before) && unicode.IsLetter(after)
	case ',':
		return unicode.IsDigit(before) && unicode.IsDigit(after)
	case '.':
		return (unicode.IsDigit(before) && unicode.IsDigit(after)) || (unicode.IsUpper(before) && unicode.IsUpper(after))
	default:
		return false
	}
}

func spaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// parts divides a figure from the unit that is glued to it: 20GB, 5km.
func parts(word string) []string {
	digits := strings.IndexFunc(word, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' && r != ',' })
	if digits <= 0 {
		return []string{word}
	}
	unit := word[digits:]
	switch strings.ToLower(unit) {
	case "st", "nd", "rd", "th", "s":
		return []string{word[:digits]}
	default:
		return []string{word[:digits], unit}
	}
}

func newWord(text string) Word {
	lower := strings.ToLower(strings.ReplaceAll(text, "’", "'"))
	lower = strings.TrimSuffix(lower, "'s")
	first, _ := utf8.DecodeRuneInString(lower)
	if unicode.IsLetter(first) && strings.Contains(text, ".") { // U.S
		text = strings.ReplaceAll(text, ".", "")
		lower = strings.ToLower(text)
	}
	if unicode.IsDigit(first) {
		return Word{Text: text, Stem: figure(lower), Number: true}
	}
	if digits, ok := spelled[lower]; ok {
		return Word{Text: text, Stem: digits, Number: true}
	}
	if stop[lower] && isAcronym(text) {
		return Word{Text: text, Stem: text}
	}
	return Word{Text: text, Stem: Stem(lower), Stop: stop[lower]}
}

// isAcronym tells US, IT and WHO from us, it and who.
func isAcronym(text string) bool {
	return len(text) > 1 && strings.ToUpper(text) == text
}

// figure writes a number plainly: without separators of thousands, leading or
// trailing zeros.
func figure(text string) string {
	fields := strings.Split(text, ",")
	grouped := len(fields) > 1
	for _, field := range fields[1:] {
		whole, _, _ := strings.Cut(field, ".")
		grouped = grouped && len(whole) == 3
	}
	if grouped {
		text = strings.Join(fields, "")
	} else {
		text = strings.ReplaceAll(text, ",", ".")
	}
	if strings.Count(text, ".") == 1 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	trimmed := strings.TrimLeft(text, "0")
	if trimmed == "" || strings.HasPrefix(trimmed, ".") {
		return "0" + trimmed
	}
	return trimmed
}

// Stem is the lower-case word without its endings.
func Stem(lower string) string {
	if len(lower) < 3 || strings.IndexFunc(lower, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 {
		return lower
	}
	env := snowballstem.NewEnv(lower)
	english.Stem(env)
	return env.Current()
}

// Content is the set of stems of the text's words that carry content, figures
// included.
func Content(text string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range Words(text) {
		if !word.Stop {
			set[word.Stem] = true
		}
	}
	return set
}

// Similarity is the share of stems that two sets have in common (Jaccard).
func Similarity(a, b map[string]bool) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	common := 0
	for stem := range a {
		if b[stem] {
			common++
		}
	}
	return float64(common) / float64(len(a)+len(b)-common)
}

// Coverage is the share of the stems of part that whole has too; 1 for an empty part.
func Coverage(part, whole map[string]bool) float64 {
	if len(part) == 0 {
		return 1
	}
	common := 0
	for stem := range part {
		if whole[stem] {
			common++
		}
	}
	return float64(common) / float64(len(part))
}
