package builtin

import (
	"strings"
	"unicode"
)

// sampleBytes is how much of a text is read to tell its language.
const sampleBytes = 4 << 10

// isEnglish tells whether text is to be treated as English. A tag that names
// a language is believed; otherwise English shows by its small words. A text
// too short to have any is taken for English when it is plain ASCII, which does
// no harm: stems of other Latin words are still equal where the words are.
func isEnglish(tag, text string) bool {
	if tag = strings.ToLower(strings.TrimSpace(tag)); tag != "" {
		return tag == "en" || strings.HasPrefix(tag, "en-") || strings.HasPrefix(tag, "en_") || tag == "eng" || tag == "english"
	}
	plain, total, small := 0, 0, 0
	for _, field := range strings.FieldsFunc(cut(text, sampleBytes), func(r rune) bool {
		return !unicode.IsLetter(r) && r != '\'' && r != '’'
	}) {
		total++
		lower := strings.ToLower(field)
		if isASCIILetters(lower) || strings.Contains(lower, "’") {
			plain++
		}
		if len(lower) > 1 && isStopWord(lower) {
			small++
		}
	}
	if total == 0 {
		return true
	}
	if float64(plain) < 0.8*float64(total) {
		return false
	}
	return total < 6 && plain == total || 10*small >= total
}
