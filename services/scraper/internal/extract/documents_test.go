package extract

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

func read(t *testing.T, contentType, address string, body []byte) *workv1.Page {
	t.Helper()
	page, err := Page(Document{URL: address, ContentType: contentType, Body: body})
	require.NoError(t, err)
	checkSections(t, page)
	return page
}

func unreadable(t *testing.T, contentType string, body []byte) {
	t.Helper()
	_, err := Page(Document{URL: "https://example.org/x", ContentType: contentType, Body: body})
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, fault.Unreadable, f.Code, f.Message)
}

func TestPlainText(t *testing.T) {
	t.Parallel()
	page := read(t, "text/plain; charset=iso-8859-1", "https://example.org/notes.txt", []byte("Caf\xe9\r\n\r\n\r\n# no heading\r\n"))
	require.Equal(t, "Café\n\n# no heading", page.GetText())
	require.Empty(t, page.GetTitle(), "who found it has a better title than a file's name")
	require.Len(t, page.GetSections(), 1)
	require.Equal(t, "text/plain", page.GetContentType())
	unreadable(t, "text/plain", bytes.Repeat([]byte{0, 1, 2}, 100))
}

func TestMarkdownDocument(t *testing.T) {
	t.Parallel()
	body := "---\ntitle: x\n---\nintro\n\n# Guide\n\ntext\n\n## Part **one**\n\n```\n# in code\n```\n\n# Next\n\nend\n"
	page := read(t, "text/markdown", "https://example.org/a.md", []byte(body))
	require.Equal(t, "Guide", page.GetTitle())
	var paths []string
	for _, s := range page.GetSections() {
		paths = append(paths, strings.Join(s.GetHeadingPath(), "/"))
	}
	require.Equal(t, []string{"", "Guide", "Guide/Part one", "Next"}, paths)
	require.Equal(t, "text/markdown", read(t, "text/plain", "https://example.org/README.md", []byte("# A\n\nb")).GetContentType())
}

func TestJSONDocument(t *testing.T) {
	t.Parallel()
	page := read(t, "application/json", "https://example.org/a.json", []byte(`{"name":"Tide table","rows":[1,2]}`))
	require.Equal(t, "Tide table", page.GetTitle())
	require.Equal(t, "```json\n{\n  \"name\": \"Tide table\",\n  \"rows\": [\n    1,\n    2\n  ]\n}\n```", page.GetText())
	unreadable(t, "application/json", []byte(`{"name":`))
	require.Equal(t, "application/json", read(t, "", "https://example.org/a", []byte(`[1]`)).GetContentType())
}

func TestJSONThatWouldGrowIsKeptAsItStands(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		strings.Repeat("[", 200) + strings.Repeat("]", 200),
		strings.Repeat("[", 90) + "1" + strings.Repeat(",1", 100_000) + strings.Repeat("]", 90),
	} {
		page := read(t, "application/json", "https://example.org/a.json", []byte(body))
		require.Equal(t, "```json\n"+body+"\n```", page.GetText())
	}
	page := read(t, "application/json", "https://example.org/a.json", []byte(`{"a":"[[[[ \" [[["}`))
	require.Equal(t, "```json\n{\n  \"a\": \"[[[[ \\\" [[[\"\n}\n```", page.GetText())
}

func TestCharsets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ contentType, body string }{
		"header":                       {"text/html; charset=windows-1251", "<p>\xcf\xf0\xe8\xe2\xe5\xf2</p>"},
		"meta":                         {"text/html", "<meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2</p>"},
		"content":                      {"text/html", "<p>Привет</p>"},
		"late meta":                    {"text/html", "<html><head>" + strings.Repeat("<!-- a long head -->", 200) + "<meta charset=windows-1251></head><p>\xcf\xf0\xe8\xe2\xe5\xf2</p>"},
		"late meta against the header": {"text/html; charset=utf-8", "<html><head>" + strings.Repeat("<!-- a long head -->", 200) + "<meta charset=windows-1251></head><p>\xcf\xf0\xe8\xe2\xe5\xf2</p>"},
		"xml declaration":              {"application/xhtml+xml", "<?xml version='1.0' encoding='windows-1251'?><html><body><p>\xcf\xf0\xe8\xe2\xe5\xf2</p></body></html>"},
		"wrong header":                 {"text/html; charset=iso-8859-1", "<p>Привет</p>"},
		"wrong meta":                   {"text/html", "<meta charset=shift_jis><p>Привет</p>"},
		"mark against the header":      {"text/html; charset=windows-1251", "\xef\xbb\xbf<p>Привет</p>"},
		"big-endian":                   {"text/html", "\xfe\xff\x00<\x00p\x00>\x04\x1f\x04@\x048\x042\x045\x04B"},
		"utf-16 by header":             {"text/html; charset=utf-16le", "<\x00p\x00>\x00\x1f\x04@\x048\x042\x045\x04B\x04"},
		"unknown charset":              {"text/html; charset=x-none", "<p>Привет</p>"},
		"mark":                         {"text/html", "\xef\xbb\xbf<p>Привет</p>"},
		"utf-16":                       {"text/html", "\xff\xfe<\x00p\x00>\x00\x1f\x04@\x048\x042\x045\x04B\x04<\x00/\x00p\x00>\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, "Привет", read(t, c.contentType, "https://example.org/", []byte(c.body)).GetText())
		})
	}
}

func TestCharsetsOfFewBytes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ contentType, body, want string }{
		"one broken byte":      {"text/html", "<p>Привет, привет, прив\xd0.</p>", "Привет, привет, прив\ufffd."},
		"latin without a word": {"text/html", "<p>Caf\xe9 cr\xe8me</p>", "Café crème"},
		"latin named utf-8":    {"text/html; charset=utf-8", "<p>Caf\xe9 cr\xe8me</p>", "Café crème"},
		"japanese in 7 bits":   {"text/html; charset=iso-2022-jp", "<p>\x1b$B0l\x1b(B</p>", "一"},
		"chinese":              {"text/html; charset=gbk", "<p>\xc4\xe3\xba\xc3</p>", "你好"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, read(t, c.contentType, "https://example.org/", []byte(c.body)).GetText())
		})
	}
}
