package extract

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// wrap renders the children of n between two marks, with the spaces at its ends
// outside of them.
func (m *markdown) wrap(n *html.Node, before, after string) {
	raw := m.apart(n)
	text := squashLines(strings.TrimSpace(raw))
	if text == "" {
		return
	}
	if first := firstText(n); leadsWithSpace(raw) || leadsWithSpace(first) {
		m.space()
	}
	m.line = append(m.line, (before + text + after)...)
	if endsWithSpace(raw) {
		m.space()
	}
}

func firstText(n *html.Node) string {
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			return d.Data
		}
	}
	return ""
}

func (m *markdown) emphasis(n *html.Node, mark string) {
	if m.hasBlocks(n) || m.insideMark(n) {
		m.children(n)
		return
	}
	m.wrap(n, mark, mark)
}

// insideMark tells whether an element stands in another one that marks its text
// already: in a heading, in emphasis, or in code.
func (m *markdown) insideMark(n *html.Node) bool {
	for at := n.Parent; at != nil; at = at.Parent {
		switch at.DataAtom {
		case atom.Strong, atom.B, atom.Em, atom.I, atom.Cite, atom.Dt, atom.Figcaption, atom.Caption, atom.Th,
			atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			return true
		}
		if blockElements[at.DataAtom] {
			return false
		}
	}
	return false
}

func (m *markdown) code(n *html.Node) {
	text := squash(m.keptText(n))
	if text == "" {
		return
	}
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		text = " " + text + " "
	}
	m.line = append(m.line, (fence + text + fence)...)
}

// keptText is the kept text below n as it stands.
func (m *markdown) keptText(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode && (m.keep[d] || strings.TrimSpace(d.Data) == ""):
			b.WriteString(d.Data)
		case d.DataAtom == atom.Br:
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// superscript marks the reference to a footnote as such: a short text that leads
// to another place of the page.
func (m *markdown) superscript(n *html.Node) {
	name := strings.Trim(innerText(n), "[]() ")
	if a := find(n, atom.A); a != nil && strings.HasPrefix(attr(a, "href"), "#") && name != "" && len(name) <= 4 && countWords(name) == 1 {
		m.line = append(m.line, ("[^" + name + "]")...)
		return
	}
	m.children(n)
}

func (m *markdown) link(n *html.Node) {
	if isPermalink(n) {
		return
	}
	target := m.resolve(attr(n, "href"))
	if target == "" || m.hasBlocks(n) {
		m.children(n)
		return
	}
	m.wrap(n, "[", "]("+target+")")
}

// isPermalink tells whether a link is the sign beside a heading that leads to it.
func isPermalink(n *html.Node) bool {
	if !strings.Contains(attr(n, "href"), "#") {
		return false
	}
	switch innerText(n) {
	case "¶", "#", "§", "🔗", "\uf0c1", "[link]":
		return true
	}
	return false
}

// resolve makes the absolute address that a link leads to, or nothing for a link
// that leads nowhere else.
func (m *markdown) resolve(href string) string {
	href = strings.TrimSpace(href)
	if href == "" || strings.HasPrefix(href, "#") || len(href) > 2000 {
		return ""
	}
	u, err := url.Parse(href)
	if err != nil {
		return ""
	}
	if m.base != nil {
		u = m.base.ResolveReference(u)
	}
	if u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
		return ""
	}
	if m.base != nil && u.Fragment != "" && samePage(u, m.base) {
		return ""
	}
	return linkEscaper.Replace(u.String())
}

func samePage(a, b *url.URL) bool {
	return a.Host == b.Host && a.EscapedPath() == b.EscapedPath() && a.RawQuery == b.RawQuery
}

var linkEscaper = strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "\n", "")

// fence writes preformatted text as it stands.
func (m *markdown) fence(n *html.Node) {
	if m.flat > 0 {
		m.children(n)
		return
	}
	text := strings.Trim(cleanText(m.keptText(n)), "\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	m.end()
	m.breakParagraph()
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	m.writeLine(mark + language(n))
	for line := range strings.SplitSeq(text, "\n") {
		m.out.WriteString(strings.Join(m.prefix, "") + line + "\n")
	}
	m.writeLine(mark)
	m.gap = true
}

// language is what a code block says it is written in.
func language(n *html.Node) string {
	names := attr(n, "class")
	if code := find(n, atom.Code); code != nil {
		names += " " + attr(code, "class")
	}
	for name := range strings.FieldsSeq(names) {
		for _, before := range []string{"language-", "lang-", "highlight-source-"} {
			if lang, ok := strings.CutPrefix(name, before); ok && len(lang) < 20 && strings.Trim(lang, "abcdefghijklmnopqrstuvwxyz0123456789+#-") == "" {
				return lang
			}
		}
	}
	return ""
}
