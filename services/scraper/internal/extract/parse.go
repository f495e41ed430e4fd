package extract

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// deepest is how far elements may nest before a page is flattened. The parser
// itself gives up at 512.
const deepest = 100

// parseHTML builds the tree of a page. A page that nests deeper than the parser
// allows is read without its innermost elements, so that its text is kept.
func parseHTML(src []byte) (*html.Node, error) {
	doc, err := parseTree(src)
	if err == nil {
		return doc, nil
	}
	doc, err = parseTree(flatten(src))
	if err == nil {
		return doc, nil
	}
	return parseTree(textOnly(src))
}

func parseTree(src []byte) (*html.Node, error) {
	return html.ParseWithOptions(bytes.NewReader(src), html.ParseOptionEnableScripting(false))
}

// flatten drops the tags that stand deeper than deepest and keeps their text.
func flatten(src []byte) []byte {
	var out bytes.Buffer
	z := html.NewTokenizer(bytes.NewReader(src))
	depth := 0
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return out.Bytes()
		case html.StartTagToken, html.EndTagToken:
			raw := bytes.Clone(z.Raw())
			name, _ := z.TagName()
			tag := atom.Lookup(name)
			if voidElements[tag] || closesItself[tag] {
				out.Write(raw)
				continue
			}
			if kind == html.EndTagToken {
				depth--
			}
			if depth <= deepest {
				out.Write(raw)
			} else if blockElements[tag] {
				out.WriteString("<br>")
			}
			if kind == html.StartTagToken {
				depth++
			}
		default:
			out.Write(z.Raw())
		}
	}
}

// textOnly keeps nothing but the text of a page, a line for each run of it.
func textOnly(src []byte) []byte {
	var out bytes.Buffer
	out.WriteString("<body>")
	z := html.NewTokenizer(bytes.NewReader(src))
	skip := false
	for {
		switch z.Next() {
		case html.ErrorToken:
			return out.Bytes()
		case html.StartTagToken:
			name, _ := z.TagName()
			skip = invisibleElements[atom.Lookup(name)]
		case html.EndTagToken:
			skip = false
		case html.TextToken:
			text := z.Raw()
			if skip || len(bytes.TrimSpace(text)) == 0 {
				continue
			}
			out.WriteString("<p>")
			out.Write(text)
			out.WriteString("</p>")
		}
	}
}

func attr(n *html.Node, key string) string {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return n.Attr[i].Val
		}
	}
	return ""
}

func hasAttr(n *html.Node, key string) bool {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return true
		}
	}
	return false
}

// find returns the first element of a tag at or below n.
func find(n *html.Node, tag atom.Atom) *html.Node {
	if n.Type == html.ElementNode && n.DataAtom == tag {
		return n
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if m := find(c, tag); m != nil {
			return m
		}
	}
	return nil
}

// innerText is the text of n with its white space squashed.
func innerText(n *html.Node) string {
	var b strings.Builder
	writeText(&b, n)
	return squash(b.String())
}

func writeText(b *strings.Builder, n *html.Node) {
	if n.Type == html.TextNode {
		b.WriteString(n.Data)
		return
	}
	if n.Type == html.ElementNode && blockElements[n.DataAtom] {
		b.WriteByte(' ')
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		writeText(b, c)
	}
}
