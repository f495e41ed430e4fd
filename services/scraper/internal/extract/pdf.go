package extract

import (
	"bytes"
	"io"
	"strings"
	"time"

	"github.com/ledongthuc/pdf"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

const (
	// mostPages and pdfTime bound the work on one document; what was read until
	// then is kept.
	mostPages = 2000
	pdfTime   = 20 * time.Second
	// largestPage is how much the drawing commands of one page may unpack to.
	largestPage = 4 << 20
)

// readPDF reads the text of each page in reading order.
func readPDF(doc Document) (*workv1.Page, error) {
	file, err := pdf.NewReader(bytes.NewReader(doc.Body), int64(len(doc.Body)))
	if err != nil {
		return nil, fault.Permanent(fault.Unreadable, "content of type %s is broken: %w", mediaPDF, err)
	}
	began := time.Now()
	var pages [][]pdfLine
	for _, page := range pagesOf(file) {
		if time.Since(began) > pdfTime {
			break
		}
		pages = append(pages, pageLines(page))
	}
	pages = withoutRunning(pages)
	text, starts := writePages(pages)
	page := &workv1.Page{Text: text, Kind: kindDocument}
	page.Sections = pagedSections(text, starts)
	describePDF(page, file)
	return page, nil
}

// deepestPages is how deep the tree of pages may nest, and mostNodes how many nodes
// of it are looked at: a broken tree may lead in circles.
const (
	deepestPages = 40
	mostNodes    = 4 * mostPages
)

// pagesOf walks the tree of pages. The library's own walk never ends on a circle.
func pagesOf(file *pdf.Reader) []pdf.Page {
	var pages []pdf.Page
	nodes := 0
	var walk func(node pdf.Value, depth int)
	walk = func(node pdf.Value, depth int) {
		nodes++
		if depth > deepestPages || nodes > mostNodes || len(pages) >= mostPages {
			return
		}
		kids := node.Key("Kids")
		if node.Key("Type").Name() == "Page" || kids.Len() == 0 {
			if !node.Key("Contents").IsNull() && endsAbove(node) {
				pages = append(pages, pdf.Page{V: node})
			} else {
				pages = append(pages, pdf.Page{})
			}
			return
		}
		for i := 0; i < kids.Len() && nodes < mostNodes; i++ {
			walk(kids.Index(i), depth+1)
		}
	}
	walk(file.Trailer().Key("Root").Key("Pages"), 0)
	return pages
}

// endsAbove tells whether the way from a page up to the root ends.
func endsAbove(node pdf.Value) bool {
	for range deepestPages {
		if node = node.Key("Parent"); node.IsNull() {
			return true
		}
	}
	return false
}

// pageLines is what can be read of one page; a page with broken content is
// empty, so that the others can be read.
func pageLines(page pdf.Page) []pdfLine {
	var lines []pdfLine
	func() {
		defer func() { _ = recover() }()
		if !unpacks(page.V.Key("Contents")) {
			return
		}
		lines = readingOrder(piecesOf(page.Content().Text), 0)
	}()
	return lines
}

// unpacks tells whether the content of a page stays within largestPage.
func unpacks(contents pdf.Value) bool {
	left := int64(largestPage)
	streams := []pdf.Value{contents}
	if contents.Kind() == pdf.Array {
		streams = streams[:0]
		for i := range min(contents.Len(), 10000) {
			streams = append(streams, contents.Index(i))
		}
	}
	for _, s := range streams {
		if s.Kind() != pdf.Stream {
			continue
		}
		n, _ := io.Copy(io.Discard, io.LimitReader(s.Reader(), left+1))
		if left -= n; left < 0 {
			return false
		}
	}
	return true
}

// describePDF fills in what the document says of itself.
func describePDF(page *workv1.Page, file *pdf.Reader) {
	defer func() { _ = recover() }()
	info := file.Trailer().Key("Info")
	page.Title = squash(cleanText(info.Key("Title").Text()))
	page.Author = squash(cleanText(info.Key("Author").Text()))
	if t, ok := pdfDate(info.Key("CreationDate").RawString()); ok {
		page.Published = timestamppb.New(t)
	}
	page.Language, _, _ = strings.Cut(strings.ToLower(file.Trailer().Key("Root").Key("Lang").RawString()), "-")
}

// pdfDate reads the form "D:20240131120000+01'00'".
func pdfDate(value string) (time.Time, bool) {
	value = strings.TrimPrefix(value, "D:")
	for _, layout := range []string{"20060102150405", "20060102"} {
		if len(value) < len(layout) {
			continue
		}
		t, err := time.Parse(layout, value[:len(layout)])
		if err == nil && t.Year() >= 1980 && t.Before(time.Now().AddDate(1, 0, 0)) {
			return t, true
		}
	}
	return time.Time{}, false
}
