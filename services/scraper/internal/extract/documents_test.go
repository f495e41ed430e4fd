package extract

import (
	"archive/zip"
	"bytes"
	"fmt"
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
	require.Equal(t, "notes.txt", page.GetTitle())
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

// docxOf packs the parts of a document.
func docxOf(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, body := range parts {
		w, err := z.Create(name)
		require.NoError(t, err)
		_, err = w.Write([]byte(body))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return out.Bytes()
}

func sampleDOCX(t testing.TB) []byte {
	t.Helper()
	p := func(style, runs string) string {
		return `<w:p><w:pPr>` + style + `</w:pPr>` + runs + `</w:p>`
	}
	r := func(text string) string { return `<w:r><w:t xml:space="preserve">` + text + `</w:t></w:r>` }
	item := `<w:numPr><w:ilvl w:val="0"/><w:numId w:val="7"/></w:numPr>`
	return docxOf(t, map[string]string{
		"word/document.xml": `<w:document xmlns:w="w" xmlns:r="r"><w:body>` +
			p(`<w:pStyle w:val="Heading1"/>`, r("Harvest report")) +
			p("", r("The yield was ")+`<w:hyperlink r:id="rId1">`+r("higher")+`</w:hyperlink>`+r(" than in 2023.")+
				`<w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r><w:del><w:r><w:t>gone</w:t></w:r></w:del>`) +
			p(item, r("wheat")) + p(item, r("rye")) +
			`<w:tbl><w:tr><w:tc>` + p("", r("Field")) + `</w:tc><w:tc>` + p("", r("Tons")) + `</w:tc></w:tr>` +
			`<w:tr><w:tc>` + p("", r("North")) + `</w:tc><w:tc>` + p("", r("4.2")) + `</w:tc></w:tr></w:tbl>` +
			`</w:body></w:document>`,
		"word/footnotes.xml":           `<w:footnotes xmlns:w="w"><w:footnote w:id="0" w:type="separator"><w:p/></w:footnote><w:footnote w:id="2">` + p("", r("By weight.")) + `</w:footnote></w:footnotes>`,
		"word/_rels/document.xml.rels": `<Relationships><Relationship Id="rId1" Target="https://example.org/y" TargetMode="External"/></Relationships>`,
		"word/numbering.xml":           `<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum><w:num w:numId="7"><w:abstractNumId w:val="1"/></w:num></w:numbering>`,
		"docProps/core.xml":            `<cp:coreProperties xmlns:cp="c" xmlns:dc="d" xmlns:t="t"><dc:title>Harvest 2024</dc:title><dc:creator>R. Field</dc:creator><t:created>2024-11-02T09:00:00Z</t:created></cp:coreProperties>`,
	})
}

func TestDOCX(t *testing.T) {
	t.Parallel()
	page := read(t, "application/octet-stream", "https://example.org/r.docx", sampleDOCX(t))
	require.Equal(t, "# Harvest report\n\nThe yield was [higher](https://example.org/y) than in 2023.[^2]\n\n"+
		"- wheat\n- rye\n\n| Field | Tons |\n| --- | --- |\n| North | 4.2 |\n\n[^2]: By weight.", page.GetText())
	require.Equal(t, "Harvest 2024", page.GetTitle())
	require.Equal(t, "R. Field", page.GetAuthor())
	require.Equal(t, 2024, page.GetPublished().AsTime().Year())
	require.Equal(t, mediaDOCX, page.GetContentType())
	unreadable(t, mediaDOCX, []byte("PK\x03\x04 word/document.xml, but no archive"))
}

// docxBody packs a body that has nothing around it.
func docxBody(t testing.TB, body string, more map[string]string) []byte {
	t.Helper()
	parts := map[string]string{"word/document.xml": `<w:document xmlns:w="w" xmlns:mc="mc"><w:body>` + body + `</w:body></w:document>`}
	for name, part := range more {
		parts[name] = part
	}
	return docxOf(t, parts)
}

func TestDOCXParts(t *testing.T) {
	t.Parallel()
	const box = `<w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent>`
	styles := `<w:styles xmlns:w="w"><w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style></w:styles>`
	for name, c := range map[string]struct{ body, want string }{
		"box of text": {
			`<w:p><w:r><w:t>before</w:t></w:r><w:r><mc:AlternateContent><mc:Choice>` + box + `</mc:Choice><mc:Fallback>` + box + `</mc:Fallback></mc:AlternateContent></w:r><w:r><w:t>after</w:t></w:r></w:p>`,
			"before\n\nboxed\n\nafter",
		},
		"style in the author's language": {`<w:p><w:pPr><w:pStyle w:val="berschrift2"/></w:pPr><w:r><w:t>Ernte</w:t></w:r></w:p><w:p><w:r><w:t>gut</w:t></w:r></w:p>`, "## Ernte\n\ngut"},
		"table in a table": {
			`<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>inner</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`,
			"| a inner | b |\n| --- | --- |",
		},
		"marks": {`<w:p><w:r><w:t>2 * 3 &lt; 7</w:t></w:r></w:p>`, `2 \* 3 \< 7`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := read(t, mediaDOCX, "https://example.org/a.docx", docxBody(t, c.body, map[string]string{"word/styles.xml": styles}))
			require.Equal(t, c.want, page.GetText())
		})
	}
}

func TestDOCXBombIsRefused(t *testing.T) {
	t.Parallel()
	_, err := Page(Document{URL: "https://example.org/a.docx", ContentType: mediaDOCX, Body: docxBody(t, strings.Repeat(" ", largestPart), nil)})
	var f *fault.Error
	require.ErrorAs(t, err, &f)
}

// pdfLineAt is one line of text on a page of a made PDF.
type pdfLineAt struct {
	x, y, size int
	text       string
}

// makePDF writes a small PDF with the lines of each page.
func makePDF(pages ...[]pdfLineAt) []byte {
	var out bytes.Buffer
	var offsets []int
	object := func(body string) {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", len(offsets), body)
	}
	out.WriteString("%PDF-1.4\n")
	var kids strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 4+2*i)
	}
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object(fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), len(pages)))
	widths := strings.Repeat("500 ", 95)
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /FirstChar 32 /LastChar 126 /Widths [" + widths + "] >>")
	for i, lines := range pages {
		object(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>", 5+2*i))
		var content strings.Builder
		for _, l := range lines {
			fmt.Fprintf(&content, "BT /F1 %d Tf 1 0 0 1 %d %d Tm (%s) Tj ET\n", l.size, l.x, l.y, l.text)
		}
		object(fmt.Sprintf("<< /Length %d >>\nstream\n%sendstream", content.Len(), content.String()))
	}
	object("<< /Title (Tide tables) /Author (Ida Marsh) /CreationDate (D:20240131120000Z) >>")
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, len(offsets), start)
	return out.Bytes()
}

func samplePDF() []byte {
	column := func(x int, words string) []pdfLineAt {
		var lines []pdfLineAt
		for i := range 6 {
			lines = append(lines, pdfLineAt{x, 640 - 13*i, 10, fmt.Sprintf("%s line %d with some more words", words, i+1)})
		}
		return lines
	}
	first := append([]pdfLineAt{{72, 770, 8, "Harbour office 1"}, {72, 700, 18, "Tides of the coast"}}, column(320, "right")...)
	first = append(first, column(72, "left")...)
	second := []pdfLineAt{
		{72, 770, 8, "Harbour office 2"}, {72, 700, 14, "Neap tides"},
		{72, 670, 10, "They come with the half moon and are weak-"}, {72, 657, 10, "er than the others."},
	}
	third := []pdfLineAt{{72, 770, 8, "Harbour office 3"}, {72, 700, 10, "The end of it."}}
	return makePDF(first, second, third)
}

func TestPDF(t *testing.T) {
	t.Parallel()
	page := read(t, "application/pdf", "https://example.org/t.pdf", samplePDF())
	text := page.GetText()
	require.Equal(t, "Tide tables", page.GetTitle())
	require.Equal(t, "Ida Marsh", page.GetAuthor())
	require.Contains(t, text, "# Tides of the coast\n")
	require.Contains(t, text, "## Neap tides\n")
	require.Contains(t, text, "are weaker than the others.")
	require.NotContains(t, text, "Harbour office", "running headers are left out")
	require.Less(t, strings.Index(text, "left line 6"), strings.Index(text, "right line 1"), "columns are read one after the other")
	pages := map[string]int32{}
	for _, s := range page.GetSections() {
		pages[strings.Join(s.GetHeadingPath(), "/")] = s.GetPage()
	}
	require.Equal(t, int32(1), pages["Tides of the coast"])
	require.Equal(t, int32(3), pages["Tides of the coast/Neap tides"], "a section goes on over the pages")
	require.Contains(t, text, "The end of it.")
	unreadable(t, "application/pdf", []byte("%PDF-1.4 but nothing follows"))
}

func TestPDFWithoutText(t *testing.T) {
	t.Parallel()
	_, err := Page(Document{URL: "https://example.org/scan.pdf", ContentType: "application/pdf", Body: makePDF(nil)})
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, fault.Empty, f.Code)
}

func TestPDFKeepsPageNumbers(t *testing.T) {
	t.Parallel()
	var pages [][]pdfLineAt
	for i := range 5 {
		pages = append(pages, []pdfLineAt{{72, 700, 10, fmt.Sprintf("What stands on page %d alone.", i+1)}})
	}
	pages[3] = nil
	page := read(t, "application/pdf", "https://example.org/t.pdf", makePDF(pages...))
	found := map[int32]string{}
	for _, s := range page.GetSections() {
		found[s.GetPage()] += page.GetText()[s.GetStart():s.GetEnd()]
	}
	require.Len(t, found, 4, "an empty page has no section, and the pages after it keep their numbers")
	for _, i := range []int32{1, 2, 3, 5} {
		require.Contains(t, found[i], fmt.Sprintf("page %d alone", i))
	}
}

func TestPDFOfManyLinesTakesLinearTime(t *testing.T) {
	t.Parallel()
	var lines []pdfLine
	for i := range 200_000 {
		lines = append(lines, pdfLine{left: 72, y: float64(-12 * i), size: 10, text: "parted-"})
	}
	text, _ := writePages(withoutRunning([][]pdfLine{lines, lines, lines}))
	require.Greater(t, len(text), 3_000_000)
}
