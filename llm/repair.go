package llm

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// ErrNoJSON is returned for an answer without a JSON object or list in it.
var ErrNoJSON = errors.New("the answer holds no JSON object or list")

// maxNesting bounds how deep a repaired value may nest.
const maxNesting = 64

// Repair finds the JSON value in a model's answer and returns it well-formed. It
// skips reasoning, prose and code fences around the value, and mends what is safe to
// mend: trailing and missing commas, raw line breaks and bad escapes in strings,
// comments, Python's literals, and an end that was cut off, where the elements that
// are incomplete are left out.
func Repair(text string) ([]byte, error) {
	text = strings.TrimSpace(stripReasoning(text))
	if json.Valid([]byte(text)) && strings.IndexAny(text, "{[") == 0 {
		return []byte(text), nil
	}
	var best []byte
	for start := 0; start < len(text); {
		at := strings.IndexAny(text[start:], "{[")
		if at < 0 {
			break
		}
		start += at
		m := mender{in: text[start:]}
		m.value(0)
		if m.failed {
			start++
			continue
		}
		// Prose may hold brackets, like [1], before the value: the longest counts.
		if len(m.out) > len(best) {
			best = m.out
		}
		start += max(m.pos, 1)
	}
	if best == nil {
		return nil, ErrNoJSON
	}
	if !json.Valid(best) {
		return nil, errors.New("the answer's JSON is broken")
	}
	return best, nil
}

// stripReasoning removes what reasoning models think aloud before they answer.
func stripReasoning(text string) string {
	for _, tag := range []string{"think", "thinking", "reasoning"} {
		end := "</" + tag + ">"
		at := strings.LastIndex(text, end)
		if at >= 0 {
			text = text[at+len(end):]
		}
	}
	return text
}

// mender reads JSON leniently and writes it strictly.
type mender struct {
	in     string
	pos    int
	out    []byte
	failed bool
}

// value copies one value and reports whether it was complete. When the input ends
// inside of it, a container is closed after its last complete element, and anything
// else is not written at all.
func (m *mender) value(depth int) bool {
	m.space()
	if m.pos >= len(m.in) {
		return false
	}
	if depth > maxNesting {
		m.failed = true
		return false
	}
	switch m.in[m.pos] {
	case '{':
		return m.container('}', depth)
	case '[':
		return m.container(']', depth)
	case '"':
		return m.text()
	default:
		return m.literal()
	}
}

func (m *mender) container(closing byte, depth int) bool {
	m.out = append(m.out, m.in[m.pos])
	m.pos++
	first := true
	for !m.failed {
		m.space()
		for m.pos < len(m.in) && m.in[m.pos] == ',' {
			m.pos++
			m.space()
		}
		if m.pos >= len(m.in) {
			m.out = append(m.out, closing)
			return false
		}
		if m.in[m.pos] == closing {
			m.pos++
			m.out = append(m.out, closing)
			return true
		}
		kept := len(m.out)
		if !first {
			m.out = append(m.out, ',')
		}
		if m.element(closing, depth) {
			first = false
			continue
		}
		m.out = m.out[:kept]
		if m.pos < len(m.in) {
			m.failed = true
		}
	}
	return false
}

// element copies an element of a list or a member of an object. A member whose
// container was cut off is kept with what is complete in it; an element of a list is
// not, since what it lacks can't be known.
func (m *mender) element(closing byte, depth int) bool {
	if closing == ']' {
		return m.value(depth + 1)
	}
	if m.in[m.pos] != '"' || !m.text() {
		return false
	}
	m.space()
	if m.pos >= len(m.in) || m.in[m.pos] != ':' {
		return false
	}
	m.pos++
	m.out = append(m.out, ':')
	m.space()
	isContainer := m.pos < len(m.in) && (m.in[m.pos] == '[' || m.in[m.pos] == '{')
	return m.value(depth+1) || (isContainer && !m.failed)
}

func (m *mender) text() bool {
	kept := len(m.out)
	m.out = append(m.out, '"')
	m.pos++
	for m.pos < len(m.in) {
		c := m.in[m.pos]
		switch {
		case c == '"':
			m.pos++
			m.out = append(m.out, '"')
			return true
		case c == '\\':
			if !m.escape() {
				m.out = m.out[:kept]
				return false
			}
		case c < 0x20:
			m.pos++
			m.control(c)
		default:
			r, size := utf8.DecodeRuneInString(m.in[m.pos:])
			m.out = utf8.AppendRune(m.out, r)
			m.pos += size
		}
	}
	m.out = m.out[:kept]
	return false
}

func (m *mender) control(c byte) {
	switch c {
	case '\n':
		m.out = append(m.out, `\n`...)
	case '\t':
		m.out = append(m.out, `\t`...)
	}
}

// escape copies an escape sequence; one that JSON doesn't have stands for itself.
func (m *mender) escape() bool {
	if m.pos+1 >= len(m.in) {
		m.pos = len(m.in)
		return false
	}
	next := m.in[m.pos+1]
	switch {
	case strings.IndexByte(`"\/bfnrt`, next) >= 0:
		m.out = append(m.out, '\\', next)
		m.pos += 2
	case next == 'u' && m.pos+6 > len(m.in):
		m.pos = len(m.in)
		return false
	case next == 'u' && isHex(m.in[m.pos+2:m.pos+6]):
		m.out = append(m.out, m.in[m.pos:m.pos+6]...)
		m.pos += 6
	case next == '\'':
		m.out = append(m.out, '\'')
		m.pos += 2
	default:
		m.out = append(m.out, `\\`...)
		m.pos++
	}
	return true
}

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

func (m *mender) literal() bool {
	start := m.pos
	for m.pos < len(m.in) && strings.IndexByte(",]}:\" \t\r\n", m.in[m.pos]) < 0 {
		m.pos++
	}
	word := m.in[start:m.pos]
	switch word {
	case "True":
		word = "true"
	case "False":
		word = "false"
	case "None", "NaN":
		word = "null"
	}
	if m.pos >= len(m.in) {
		return false
	}
	if !json.Valid([]byte(word)) {
		m.failed = true
		return false
	}
	m.out = append(m.out, word...)
	return true
}

// space skips white space and comments.
func (m *mender) space() {
	for m.pos < len(m.in) {
		rest := m.in[m.pos:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			m.pos++
		case strings.HasPrefix(rest, "//"):
			m.skipTo(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			m.skipTo(rest, "*/")
		default:
			return
		}
	}
}

func (m *mender) skipTo(rest, end string) {
	at := strings.Index(rest, end)
	if at < 0 {
		m.pos = len(m.in)
		return
	}
	m.pos += at + len(end)
}
