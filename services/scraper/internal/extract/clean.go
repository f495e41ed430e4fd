package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cleanText makes valid UTF-8 without NUL, other control characters, and
// characters that a person can't see: zero-width, bidi control, tags, and soft
// hyphens. Joiners stay where scripts and emoji need them.
func cleanText(s string) string {
	if isClean(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	runes := []rune(strings.ToValidUTF8(s, "\uFFFD"))
	for i, r := range runes {
		switch {
		case r == '\r':
			if i+1 >= len(runes) || runes[i+1] != '\n' {
				b.WriteByte('\n')
			}
		case r == '\u2028' || r == '\u2029' || r == '\u0085':
			b.WriteByte('\n')
		case r == '\u200c' || r == '\u200d':
			if joins(runes, i) {
				b.WriteRune(r)
			}
		case invisible(r):
		case r == '\u00a0' || (r != ' ' && unicode.Is(unicode.Zs, r)):
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isClean(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// joins tells whether the joiner at i stands between two characters that it can
// change: letters beyond the Latin scripts, marks, or symbols.
func joins(runes []rune, i int) bool {
	if i == 0 || i+1 == len(runes) {
		return false
	}
	able := func(r rune) bool {
		return r > 0x2ff && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r))
	}
	return able(runes[i-1]) && able(runes[i+1])
}

// invisible tells whether r has no appearance of its own.
func invisible(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ' || r >= 0x7f && r < 0xa0:
		return true
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0:
		return true
	case r >= 0x17b4 && r <= 0x17b5, r >= 0x180b && r <= 0x180f:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r == 0xfeff, r >= 0xfff0 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff:
		return true
	case r >= 0x1d173 && r <= 0x1d17a:
		return true
	}
	return unicode.Is(unicode.Co, r) || r&0xfffe == 0xfffe
}

// squash trims s and makes each run of white space one space.
func squash(s string) string { return strings.Join(strings.Fields(s), " ") }

// tidyLines trims the ends of lines and leaves at most one empty line between
// two others.
func tidyLines(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	empty := 0
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimRight(line, " \t")
		if line == "" {
			empty++
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
			if empty > 0 {
				b.WriteByte('\n')
			}
		}
		empty = 0
		b.WriteString(line)
	}
	return b.String()
}
