package normalize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text makes one clean line of at most limit bytes out of what an engine said:
// valid UTF-8, no control characters, single spaces, never cut inside a character.
func Text(raw string, limit int) string {
	line := strings.Join(strings.Fields(strings.Map(printable, strings.ToValidUTF8(raw, " "))), " ")
	if len(line) <= limit {
		return line
	}
	end := limit
	for end > 0 && !utf8.RuneStart(line[end]) {
		end--
	}
	return strings.TrimSpace(line[:end])
}

func printable(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}
