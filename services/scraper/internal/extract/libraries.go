package extract

import (
	"net/url"
	"strings"

	"codeberg.org/readeck/go-readability/v2"
	"github.com/markusmobius/go-trafilatura"
	"golang.org/x/net/html"
)

// byReadability is what Readability makes of a page; nothing when it finds no
// article, or fails on it.
func byReadability(doc *html.Node, base *url.URL) string {
	return guarded(func() *html.Node {
		parser := readability.NewParser()
		parser.DisableJSONLD = true
		article, err := parser.ParseDocument(doc, base)
		if err != nil {
			return nil
		}
		return article.Node
	})
}

// byTrafilatura is what Trafilatura with its fallbacks makes of a page.
func byTrafilatura(doc *html.Node, base *url.URL) string {
	return guarded(func() *html.Node {
		result, err := trafilatura.ExtractDocument(doc, trafilatura.Options{
			OriginalURL: base, EnableFallback: true, ExcludeComments: true, HtmlDateMode: trafilatura.Disabled,
		})
		if err != nil || result == nil {
			return nil
		}
		return result.ContentNode
	})
}

// guarded is the text of what a library finds. A library that panics on a page
// finds nothing.
func guarded(find func() *html.Node) string {
	text := ""
	func() {
		defer func() { _ = recover() }()
		if n := find(); n != nil {
			text = linesOf(n)
		}
	}()
	return text
}

// linesOf is the text of a tree with a line for each block of it.
func linesOf(n *html.Node) string { return outlineOf(n, "").lines(nil) }

// lines is the text of the blocks that keep tells, or of all, a line for each.
func (o *outline) lines(keep []bool) string {
	var text strings.Builder
	for i := range o.blocks {
		if keep == nil || keep[i] {
			text.WriteString(o.blocks[i].text)
			text.WriteByte('\n')
		}
	}
	return text.String()
}

// withLibraries adds to the row of each block how much of it, and of those around
// it, each text kept that a library made of the page.
func (o *outline) withLibraries(rows [][]float32, texts []string) [][]float32 {
	all := make([]vector, len(rows))
	for i := range rows {
		all[i].add(rows[i]...)
	}
	for _, text := range texts {
		kept := o.coverage(text)
		for i := range all {
			around, n := float32(0), 0
			for k := max(0, i-3); k <= min(len(kept)-1, i+3); k++ {
				around += kept[k]
				n++
			}
			before, after := float32(0), float32(0)
			if i > 0 {
				before = kept[i-1]
			}
			if i+1 < len(kept) {
				after = kept[i+1]
			}
			all[i].add(kept[i], before, after, around/float32(n))
		}
	}
	longer := make([][]float32, len(rows))
	for i := range all {
		longer[i] = all[i].at
	}
	return longer
}
