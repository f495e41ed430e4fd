package extract

import (
	"bytes"
	"encoding/json"

	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// readJSON shows a value indented, as code.
func readJSON(doc Document) (*workv1.Page, error) {
	body := bytes.TrimSpace(toUTF8(doc.Body, doc.ContentType))
	if len(body) == 0 {
		return nil, fault.Permanent(fault.Empty, "document of type %s has no text", mediaJSON)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, body, "", "  "); err != nil {
		return nil, fault.Permanent(fault.Unreadable, "content of type %s is broken: %w", mediaJSON, err)
	}
	text := cleanText(out.String())
	fence := "```"
	for bytes.Contains(out.Bytes(), []byte(fence)) {
		fence += "`"
	}
	text = fence + "json\n" + text + "\n" + fence
	return &workv1.Page{Text: text, Title: titleInJSON(body, nameOf(doc)), Kind: kindDocument}, nil
}

// titleInJSON is what an object calls itself.
func titleInJSON(body []byte, otherwise string) string {
	var about struct{ Title, Name any }
	if json.Unmarshal(body, &about) != nil {
		return otherwise
	}
	for _, value := range []any{about.Title, about.Name} {
		if s, ok := value.(string); ok && s != "" && len(s) <= 300 {
			return squash(cleanText(s))
		}
	}
	return otherwise
}

// looksLikeJSON is true for a valid value; it does not build it.
func looksLikeJSON(body []byte) bool {
	return json.Valid(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
}
