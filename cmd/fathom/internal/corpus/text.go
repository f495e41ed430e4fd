package corpus

import (
	"errors"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

func readText(body []byte) (*Document, error) {
	if !utf8.Valid(body) {
		return nil, errors.New("not UTF-8 text")
	}
	text := tidy(string(body))
	title, _, _ := strings.Cut(text, "\n")
	if len(title) > 120 {
		title = ""
	}
	return &Document{Title: title, Text: text, Published: statedDate(text)}, nil
}

var (
	markdownHeading = regexp.MustCompile(`(?m)^#{1,6}\s+(.+?)\s*#*$`)
	markdownLink    = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	markdownMark    = regexp.MustCompile("(?m)^[ \t]*(#{1,6}|>|[-*+]|```\\w*)[ \t]*|[*_`|]+")
	frontMatter     = regexp.MustCompile(`(?s)\A---\n(.*?)\n---\n`)
	frontTitle      = regexp.MustCompile(`(?m)^title:\s*"?(.+?)"?\s*$`)
	dateLine        = regexp.MustCompile(`(?mi)^(?:published|date|updated):\s*"?(\d{4}-\d{2}-\d{2}\S*?)"?\s*$`)
)

// readMarkdown strips the commonest marks: the index needs words, and the snippet
// needs to be readable.
func readMarkdown(body []byte) (*Document, error) {
	if !utf8.Valid(body) {
		return nil, errors.New("not UTF-8 text")
	}
	source := strings.ReplaceAll(string(body), "\r\n", "\n")
	document := &Document{Published: statedDate(source)}
	if m := frontMatter.FindStringSubmatch(source); m != nil {
		source = source[len(m[0]):]
		if title := frontTitle.FindStringSubmatch(m[1]); title != nil {
			document.Title = title[1]
		}
	}
	if m := markdownHeading.FindStringSubmatch(source); m != nil && document.Title == "" {
		document.Title = plain(m[1])
	}
	document.Text = tidy(plain(source))
	return document, nil
}

func plain(markdown string) string {
	return markdownMark.ReplaceAllString(markdownLink.ReplaceAllString(markdown, "$1"), "")
}

// statedDate finds a line such as "Published: 2024-05-01".
func statedDate(text string) time.Time {
	m := dateLine.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}
	}
	return parseDate(m[1])
}

func parseDate(value string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly, "2006-01"} {
		at, err := time.Parse(layout, strings.TrimSpace(value))
		if err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}

// tidy collapses the white space of each line and drops empty lines.
func tidy(text string) string {
	var out strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		line = collapse(line)
		if line != "" {
			out.WriteString(line)
			out.WriteByte('\n')
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func collapse(text string) string { return strings.Join(strings.Fields(text), " ") }
