package extract

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/fault"
)

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
