package extract

import (
	"net/url"

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
func linesOf(n *html.Node) string {
	o := outlineOf(n, "")
	size := 0
	for i := range o.blocks {
		size += len(o.blocks[i].text) + 1
	}
	text := make([]byte, 0, size)
	for i := range o.blocks {
		text = append(append(text, o.blocks[i].text...), '\n')
	}
	return string(text)
}
