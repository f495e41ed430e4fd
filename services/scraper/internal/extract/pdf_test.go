package extract

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/fault"
)

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
	for i := range 40_000 {
		lines = append(lines, pdfLine{left: 72, y: float64(-12 * i), size: 10, text: "parted-"})
	}
	text, _ := writePages(withoutRunning([][]pdfLine{lines, lines, lines}))
	require.Greater(t, len(text), 600_000)
}
