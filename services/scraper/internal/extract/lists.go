package extract

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

func (m *markdown) items(n *html.Node) {
	if m.flat > 0 {
		m.children(n)
		return
	}
	m.end()
	if m.list == 0 {
		m.breakParagraph()
	}
	m.list++
	number, err := strconv.Atoi(attr(n, "start"))
	if err != nil || number < 0 {
		number = 1
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Li && n.DataAtom == atom.Ol {
			if m.keep[c] {
				m.item(c, strconv.Itoa(number)+". ")
			}
			number++
			continue
		}
		if m.keep[c] {
			m.node(c)
		}
	}
	m.end()
	m.list--
	if m.list == 0 {
		m.gap = true
	}
}

func (m *markdown) item(n *html.Node, marker string) {
	if m.flat > 0 {
		m.space()
		m.children(n)
		m.space()
		return
	}
	m.end()
	m.gap = m.gap && m.list <= 1 && m.out.Len() > 0 && !m.inItems(n)
	if m.marker != "" && len(m.prefix) < deepestPrefix { // an item that begins with a list has no words of its own
		m.marker += marker
	} else {
		m.marker = strings.Join(m.prefix, "") + marker
	}
	m.indent(strings.Repeat(" ", len(marker)))
	m.list++
	m.children(n)
	m.end()
	m.list--
	m.prefix = m.prefix[:len(m.prefix)-1]
	m.marker = ""
	m.gap = false
}

// inItems tells whether an item follows another kept one.
func (m *markdown) inItems(n *html.Node) bool {
	for c := n.PrevSibling; c != nil; c = c.PrevSibling {
		if c.DataAtom == atom.Li && m.keep[c] {
			return true
		}
	}
	return false
}
