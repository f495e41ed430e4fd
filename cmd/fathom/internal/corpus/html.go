package corpus

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

func readHTML(body []byte) (*Document, error) {
	decoded, err := charset.NewReader(bytes.NewReader(body), "text/html")
	if err != nil {
		return nil, fmt.Errorf("detect the charset: %w", err)
	}
	root, err := html.Parse(decoded)
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	page := &htmlPage{}
	page.visit(root)
	title := page.title
	if title == "" {
		title = page.heading
	}
	return &Document{
		Title:     collapse(title),
		Text:      strings.TrimSpace(page.description + "\n" + tidy(page.text.String())),
		Published: page.published,
	}, nil
}

// htmlPage gathers what the index wants of a page.
type htmlPage struct {
	title       string
	heading     string
	description string
	published   time.Time
	text        strings.Builder
}

func (p *htmlPage) visit(node *html.Node) {
	switch node.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Nav, atom.Footer, atom.Iframe, atom.Svg:
		return
	case atom.Title:
		if node.Parent != nil && node.Parent.DataAtom == atom.Head {
			p.title = content(node)
			return
		}
	case atom.H1:
		if p.heading == "" {
			p.heading = content(node)
		}
	case atom.Meta:
		p.meta(node)
	case atom.Time:
		p.date(attribute(node, "datetime"))
	}
	if node.Type == html.TextNode {
		p.text.WriteString(node.Data)
	}
	for child := node.FirstChild; child != nil; child = child.NextSibling {
		p.visit(child)
	}
	if isBlock(node.DataAtom) {
		p.text.WriteByte('\n')
	}
}

func (p *htmlPage) meta(node *html.Node) {
	name := strings.ToLower(attribute(node, "name") + attribute(node, "property"))
	value := attribute(node, "content")
	switch name {
	case "description":
		p.description = collapse(value)
	case "article:published_time", "date", "dc.date", "dcterms.created", "datepublished", "pubdate":
		p.date(value)
	}
}

// date keeps the page's first date that can be read.
func (p *htmlPage) date(value string) {
	if p.published.IsZero() {
		p.published = parseDate(value)
	}
}

func isBlock(tag atom.Atom) bool {
	switch tag {
	case atom.P, atom.Div, atom.Li, atom.Tr, atom.Td, atom.Th, atom.Br, atom.Pre, atom.Blockquote,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Dt, atom.Dd, atom.Section,
		atom.Article, atom.Header, atom.Figcaption, atom.Caption, atom.Table, atom.Option:
		return true
	default:
		return false
	}
}

func attribute(node *html.Node, name string) string {
	for _, a := range node.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func content(node *html.Node) string {
	if node.Type == html.TextNode {
		return node.Data
	}
	var text strings.Builder
	for child := node.FirstChild; child != nil; child = child.NextSibling {
		text.WriteString(content(child))
	}
	return text.String()
}
