package extract

import (
	"bytes"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// markdown writes the kept text of a tree as Markdown.
type markdown struct {
	out  strings.Builder
	keep map[*html.Node]bool // elements and text nodes with kept text
	base *url.URL

	prefix []string // what each line begins with, by list or quote
	marker string   // list marker that the next line begins with instead
	line   []byte
	opened int  // where the innermost quote begins in out
	gap    bool // an empty line is due before the next one
	list   int  // depth of lists
	flat   int  // depth of elements that fit on one line only: cells, headings, links
}

// renderMarkdown writes what the kept blocks hold.
func renderMarkdown(root *html.Node, kept []*block, base *url.URL) string {
	m := markdown{keep: map[*html.Node]bool{}, base: base}
	for _, b := range kept {
		for _, n := range b.nodes {
			for at := n; at != nil && !m.keep[at]; at = at.Parent {
				m.keep[at] = true
			}
		}
	}
	m.children(root)
	m.end()
	return tidyLines(m.out.String())
}

func (m *markdown) children(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case m.keep[c]:
			m.node(c)
		case c.Type == html.TextNode && strings.TrimSpace(c.Data) == "":
			m.space()
		case c.DataAtom == atom.Br:
			m.lineBreak()
		case c.DataAtom == atom.Hr || blockElements[c.DataAtom]:
			m.end()
		}
	}
}

func (m *markdown) node(n *html.Node) {
	if n.Type == html.TextNode {
		m.text(n.Data)
		return
	}
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		m.heading(n)
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		m.items(n)
	case atom.Li:
		m.item(n, "- ")
	case atom.Blockquote:
		m.quote(n)
	case atom.Pre:
		m.fence(n)
	case atom.Table:
		m.table(n)
	case atom.Dt:
		m.paragraph(n, "**")
	case atom.Figcaption, atom.Caption:
		m.paragraph(n, "*")
	case atom.A:
		m.link(n)
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
		m.code(n)
	case atom.Strong, atom.B:
		m.emphasis(n, "**")
	case atom.Em, atom.I, atom.Cite:
		m.emphasis(n, "*")
	case atom.Del, atom.S:
		m.emphasis(n, "~~")
	case atom.Sup:
		m.superscript(n)
	case atom.Q:
		m.line = append(m.line, "“"...)
		m.children(n)
		m.line = append(m.line, "”"...)
	default:
		if blockElements[n.DataAtom] {
			m.paragraph(n, "")
		} else {
			m.children(n)
		}
	}
}

// text adds inline text, escaped where Markdown would take it for markup.
func (m *markdown) text(s string) {
	start := len(m.line) == 0
	for i, part := range strings.Fields(s) {
		if i > 0 || leadsWithSpace(s) {
			m.space()
		}
		m.line = append(m.line, escape(part, start && i == 0 && m.flat == 0)...)
	}
	if endsWithSpace(s) {
		m.space()
	}
}

func (m *markdown) space() {
	if n := len(m.line); n > 0 && m.line[n-1] != ' ' {
		m.line = append(m.line, ' ')
	}
}

func leadsWithSpace(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(first)
}

func endsWithSpace(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsSpace(last)
}

// escape guards the characters that would change the meaning of a word.
func escape(word string, first bool) string {
	if strings.ContainsAny(word, "`*\\") || strings.Contains(word, "](") || strings.Contains(word, "<") {
		word = escaper.Replace(word)
	}
	if !first || word == "" {
		return word
	}
	switch word[0] {
	case '#', '>', '+', '-', '=', '|':
		if strings.Trim(word, "#>+-=|") == "" {
			return `\` + word
		}
	case '~':
		return `\` + word
	}
	if digits := strings.TrimLeft(word, "0123456789"); digits == "." || digits == ")" {
		if len(word) > 1 {
			return word[:len(word)-1] + `\` + digits
		}
	}
	return word
}

var escaper = strings.NewReplacer("`", "\\`", "*", "\\*", "\\", "\\\\", "](", "\\](", "<", "\\<")

// end closes the line that is being written.
func (m *markdown) end() {
	line := string(bytes.TrimSpace(m.line))
	m.line = m.line[:0]
	m.writeLine(line)
}

func (m *markdown) writeLine(line string) {
	if line == "" {
		return
	}
	if m.gap && m.out.Len() > 0 {
		m.out.WriteString(strings.TrimRight(strings.Join(m.prefix, ""), " "))
		m.out.WriteByte('\n')
	}
	m.gap = false
	prefix := strings.Join(m.prefix, "")
	if m.marker != "" {
		prefix = m.marker
		m.marker = ""
	}
	m.out.WriteString(prefix)
	m.out.WriteString(line)
	m.out.WriteByte('\n')
}

func (m *markdown) lineBreak() {
	if m.flat > 0 {
		m.space()
		return
	}
	m.end()
}

func (m *markdown) paragraph(n *html.Node, mark string) {
	if m.flat > 0 {
		m.space()
		m.children(n)
		m.space()
		return
	}
	m.end()
	m.breakParagraph()
	if mark == "" || m.hasBlocks(n) {
		m.children(n)
	} else {
		m.emphasis(n, mark)
	}
	m.end()
	m.breakParagraph()
}

// breakParagraph asks for an empty line, but not before the first line of an item
// or a quote.
func (m *markdown) breakParagraph() {
	if m.marker == "" && m.out.Len() != m.opened {
		m.gap = true
	}
}

func (m *markdown) hasBlocks(n *html.Node) bool {
	for d := range n.Descendants() {
		if m.keep[d] && d.Type == html.ElementNode && blockElements[d.DataAtom] {
			return true
		}
	}
	return false
}

func (m *markdown) heading(n *html.Node) {
	if m.flat > 0 || m.list > 0 {
		m.paragraph(n, "")
		return
	}
	m.end()
	m.gap = true
	text := m.inline(n)
	if text != "" {
		m.writeLine(strings.Repeat("#", headingLevel(n)) + " " + text)
	}
	m.gap = true
}

// apart renders the children of n without breaks, and leaves the current line as
// it is.
func (m *markdown) apart(n *html.Node) string {
	outer := m.line
	m.line = nil
	m.flat++
	m.children(n)
	m.flat--
	text := string(m.line)
	m.line = outer
	return text
}

// inline renders the children of n on one line.
func (m *markdown) inline(n *html.Node) string {
	return squashLines(strings.TrimSpace(m.apart(n)))
}

func squashLines(s string) string {
	if !strings.ContainsAny(s, "\n\t") && !strings.Contains(s, "  ") {
		return s
	}
	return squash(s)
}

func (m *markdown) quote(n *html.Node) {
	if m.flat > 0 {
		m.paragraph(n, "")
		return
	}
	m.end()
	m.breakParagraph()
	if m.gap && m.out.Len() > 0 {
		m.out.WriteByte('\n')
	}
	m.gap = false
	m.opened = m.out.Len()
	m.indent("> ")
	m.children(n)
	m.end()
	m.prefix = m.prefix[:len(m.prefix)-1]
	m.gap = true
}

// deepestPrefix is how many lists and quotes deep lines are set in; what nests
// deeper is written at that depth.
const deepestPrefix = 10

func (m *markdown) indent(by string) {
	if len(m.prefix) >= deepestPrefix {
		by = ""
	}
	m.prefix = append(m.prefix, by)
}
