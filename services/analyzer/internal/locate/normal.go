package locate

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// normal is a text without what two writers of the same words may do differently.
// Byte i of it was made from bytes starts[i] to ends[i] of the original.
type normal struct {
	text   string
	starts []int
	ends   []int
}

// at is the first place of the normal text that stands for offset or later.
func (n normal) at(offset int) int {
	return sort.SearchInts(n.starts, offset)
}

func normalize(text string) normal {
	w := writer{}
	w.out.Grow(len(text))
	for pos := 0; pos < len(text); {
		skip := markup(text, pos)
		if skip > 0 {
			pos += skip
			continue
		}
		r, size := utf8.DecodeRuneInString(text[pos:])
		w.write(r, pos, pos+size)
		pos += size
	}
	return normal{text: w.out.String(), starts: w.starts, ends: w.ends}
}

// Plain is text without Markdown, on one line.
func Plain(text string) string {
	var b strings.Builder
	for pos := 0; pos < len(text); {
		skip := markup(text, pos)
		if skip > 0 {
			pos += skip
			continue
		}
		r, size := utf8.DecodeRuneInString(text[pos:])
		if r == '|' {
			r = ' '
		}
		b.WriteRune(r)
		pos += size
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// markup is the length of the Markdown that begins at pos and is no text: emphasis,
// heading and list marks, a link's target, a footnote's number.
func markup(text string, pos int) int {
	rest := text[pos:]
	switch rest[0] {
	case '*', '`', '~':
		return 1
	case '_':
		return emphasis(text, pos)
	case '\\':
		if len(rest) > 1 && strings.IndexByte("\\`*_{}[]()#+-.!|<>~", rest[1]) >= 0 {
			return 1
		}
	case '#', '>':
		if lineStart(text, pos) {
			return 1
		}
	case '!':
		if len(rest) > 1 && rest[1] == '[' {
			return 1
		}
	case '[':
		note := footnote(rest)
		if note > 0 {
			return note
		}
		return 1
	case ']':
		return 1 + target(rest[1:])
	}
	return 0
}

// emphasis tells an underscore that marks emphasis from one inside of a name.
func emphasis(text string, pos int) int {
	inside := pos > 0 && pos+1 < len(text) && alphanumeric(text[pos-1]) && alphanumeric(text[pos+1])
	if inside {
		return 0
	}
	return 1
}

func alphanumeric(c byte) bool {
	return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
}

func lineStart(text string, pos int) bool {
	line := text[strings.LastIndexByte(text[:pos], '\n')+1 : pos]
	return strings.Trim(line, "#> \t") == ""
}

// footnote is the length of a mark like [12] or [^3].
func footnote(rest string) int {
	end := strings.IndexByte(rest[:min(len(rest), 8)], ']')
	if end < 2 || strings.HasPrefix(rest[end+1:], "(") {
		return 0
	}
	if strings.Trim(strings.TrimPrefix(rest[1:end], "^"), "0123456789") != "" {
		return 0
	}
	return end + 1
}

// target is the length of a link's address in parentheses.
func target(rest string) int {
	if !strings.HasPrefix(rest, "(") {
		return 0
	}
	depth := 0
	for i := 0; i < len(rest) && rest[i] != '\n'; i++ {
		switch rest[i] {
		case '(':
			depth++
		case ')':
			depth--
			if depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

type writer struct {
	out    strings.Builder
	starts []int
	ends   []int
	spaced bool
}

func (w *writer) write(r rune, start, end int) {
	r = plain(r)
	switch r {
	case 0:
	case ' ':
		if !w.spaced && len(w.starts) > 0 {
			w.put(" ", start, end)
		}
		w.spaced = true
	case '…':
		w.put("...", start, end)
		w.spaced = false
	default:
		w.put(string(r), start, end)
		w.spaced = false
	}
}

func (w *writer) put(s string, start, end int) {
	w.out.WriteString(s)
	for range len(s) {
		w.starts = append(w.starts, start)
		w.ends = append(w.ends, end)
	}
}

// plain is the common form of a character, 0 for one that can't be seen.
func plain(r rune) rune {
	switch r {
	case '“', '”', '„', '‟', '«', '»', '‘', '’', '‚', '‛', '′', '″', '"', '´':
		return '\''
	case '‐', '‑', '‒', '–', '—', '―', '−':
		return '-'
	case '\u00ad', '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff':
		return 0
	case '|':
		return ' '
	}
	if unicode.IsSpace(r) {
		return ' '
	}
	return unicode.ToLower(r)
}
