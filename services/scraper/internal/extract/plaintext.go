package extract

import (
	"strings"

	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// readPlain keeps a text as it stands, one section for the whole: its lines may
// begin with what would be marks in Markdown.
func readPlain(doc Document) (*workv1.Page, error) {
	if isBinary(doc.Body) {
		return nil, fault.Permanent(fault.Unreadable, "content of type %s is binary", mediaPlain)
	}
	text := tidyLines(cleanText(string(toUTF8(doc.Body, doc.ContentType))))
	page := &workv1.Page{Text: text, Kind: kindDocument}
	if text != "" {
		page.Sections = []*workv1.Section{{End: int32(len(text))}}
	}
	return page, nil
}

// readMarkdown keeps Markdown as it stands; its first main heading is its title.
func readMarkdown(doc Document) (*workv1.Page, error) {
	if isBinary(doc.Body) {
		return nil, fault.Permanent(fault.Unreadable, "content of type %s is binary", mediaMarkdown)
	}
	text := withoutFrontMatter(cleanText(string(toUTF8(doc.Body, doc.ContentType))))
	text = strings.TrimSpace(text)
	page := &workv1.Page{Text: text, Kind: kindDocument}
	for _, s := range sectionsOf(text) {
		if len(s.GetHeadingPath()) > 0 {
			page.Title = s.GetHeadingPath()[0]
			break
		}
	}
	return page, nil
}

func withoutFrontMatter(text string) string {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return text
	}
	head, body, ok := strings.Cut(rest, "\n---\n")
	if !ok || strings.Contains(head, "\n\n") || !strings.Contains(head, ":") {
		return text
	}
	return body
}

// isBinary is true for what has NULs and no charset that explains them.
func isBinary(body []byte) bool {
	if len(body) >= 2 && (body[0] == 0xff && body[1] == 0xfe || body[0] == 0xfe && body[1] == 0xff) {
		return false
	}
	nuls := 0
	for _, c := range body[:min(len(body), 8192)] {
		if c == 0 {
			nuls++
		}
	}
	return nuls > 8
}
