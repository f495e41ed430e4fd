package extract

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// readJSON shows a value indented, as code.
func readJSON(doc Document) (*workv1.Page, error) {
	body := bytes.TrimSpace(toUTF8(doc.Body, doc.ContentType))
	if len(body) == 0 {
		return nil, fault.Permanent(fault.Empty, "document of type %s has no text", mediaJSON)
	}
	if !json.Valid(body) {
		return nil, fault.Permanent(fault.Unreadable, "content of type %s is broken", mediaJSON)
	}
	text := cleanText(string(indented(body)))
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	text = fence + "json\n" + text + "\n" + fence
	return &workv1.Page{Text: text, Title: titleInJSON(body), Kind: kindDocument}, nil
}

// deepestJSON is how deep the lines of a value may be set in, and mostIndented by
// how many times it may grow by that.
const (
	deepestJSON  = 100
	mostIndented = 8
)

// indented sets a value out in lines, unless it nests so deep that nobody could
// read them.
func indented(body []byte) []byte {
	depth, size, quoted := 0, 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			size += 2 * depth
		case c == '}' || c == ']':
			depth--
			size += 2 * depth
		case c == ',':
			size += 2 * depth
		}
		if depth > deepestJSON {
			return body
		}
	}
	var out bytes.Buffer
	if size > mostIndented*len(body) || json.Indent(&out, body, "", "  ") != nil {
		return body
	}
	return out.Bytes()
}

// titleInJSON is what an object calls itself, or nothing.
func titleInJSON(body []byte) string {
	var about struct{ Title, Name any }
	if json.Unmarshal(body, &about) != nil {
		return ""
	}
	for _, value := range []any{about.Title, about.Name} {
		if s, ok := value.(string); ok && s != "" && len(s) <= 300 {
			return squash(cleanText(s))
		}
	}
	return ""
}

// looksLikeJSON is true for a valid value; it does not build it.
func looksLikeJSON(body []byte) bool {
	return json.Valid(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
}
