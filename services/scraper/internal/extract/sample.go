package extract

import (
	"net/url"

	"golang.org/x/net/html"

	"github.com/fathom-research/fathom/platform/fault"
)

// Sample is a page as the model sees it: cut into blocks that are described by
// features. Pages are read, and the model is trained, by way of samples.
type Sample struct {
	outline *outline
	tree    *html.Node
	base    *url.URL
	about   metadata
	page    []float32
	blocks  [][]float32
	article [][]float32
}

// NewSample parses a page of the web. Its errors are *fault.Error.
func NewSample(doc Document) (*Sample, error) {
	tree, err := parseHTML(toUTF8(doc.Body, doc.ContentType))
	if err != nil {
		return nil, fault.Permanent(fault.Unreadable, "page can't be parsed: %w", err)
	}
	s := &Sample{tree: tree, base: baseOf(tree, orElse(doc.FinalURL, doc.URL))}
	s.about = metadataOf(tree, s.base)
	signs := signals(tree, &s.about, s.base)
	removeInvisible(tree)
	removeConsent(tree)
	s.outline = outlineOf(tree, s.about.title)
	if len(s.outline.blocks) == 0 {
		return nil, fault.Permanent(fault.Empty, "page has no text")
	}
	s.page = s.outline.kindFeatures(signs)
	return s, nil
}

// PageRow is the features of the page as a whole.
func (s *Sample) PageRow() []float32 { return s.page }

// BlockRows is the features of each block.
func (s *Sample) BlockRows() [][]float32 {
	if s.blocks == nil {
		s.blocks = s.outline.features()
	}
	return s.blocks
}

// ArticleRows is BlockRows with what two libraries for articles kept of each block
// at the end of each row.
func (s *Sample) ArticleRows() [][]float32 {
	if s.article == nil {
		s.article = s.outline.withLibraries(s.BlockRows(), []string{
			byTrafilatura(s.tree, s.base), byReadability(s.tree, s.base),
		})
	}
	return s.article
}

// SecondRows is BlockRows with, in front, what a first look made of the blocks
// around each, and of the page.
func (s *Sample) SecondRows(first, kinds []float32) [][]float32 {
	rows := s.outline.consensus(first)
	for i, row := range s.BlockRows() {
		rows[i] = append(append(rows[i], kinds...), row...)
	}
	return rows
}

// Words is how many words each block has.
func (s *Sample) Words() []int {
	words := make([]int, len(s.outline.blocks))
	for i := range words {
		words[i] = len(s.outline.blocks[i].tokens)
	}
	return words
}

// Shares tells for each block which share of its words stands in text, which was
// made out of the same page.
func (s *Sample) Shares(text string) []float32 { return s.outline.coverage(text) }

// Text is the words of the blocks that the model keeps, a line for each block.
func (s *Sample) Text(m *Model) string { return s.outline.lines(m.choose(s)) }

// Alone is what the two libraries make of the page, each alone.
func (s *Sample) Alone() (string, string) {
	return byTrafilatura(s.tree, s.base), byReadability(s.tree, s.base)
}
