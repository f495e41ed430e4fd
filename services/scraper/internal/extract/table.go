package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// widestTable is how many columns a cell spans at most, and up to which all rows
// of a table are made as long as the longest one.
const widestTable = 50

// table writes a table of data as one; a table that only lays out its page, or
// that holds another one, is written as the paragraphs in it.
func (m *markdown) table(n *html.Node) {
	var rows [][]string
	columns := 0
	// Only a table without another one inside is laid out in rows: to try each of
	// many nested ones would double the work with each.
	if m.flat == 0 && !m.isLayout(n) {
		rows, columns = m.rows(n)
	}
	if columns < 2 || len(rows) < 2 {
		m.end()
		m.breakParagraph()
		m.cells(n)
		m.end()
		m.breakParagraph()
		return
	}
	m.end()
	m.breakParagraph()
	if caption := child(n, atom.Caption); caption != nil && m.keep[caption] {
		m.paragraph(caption, "*")
	}
	for i, row := range rows {
		for len(row) < columns && (i == 0 || columns <= widestTable) {
			row = append(row, "")
		}
		m.writeLine("| " + strings.Join(row, " | ") + " |")
		if i == 0 {
			m.writeLine("|" + strings.Repeat(" --- |", columns))
		}
	}
	m.gap = true
}

// cells writes a table without its grid.
func (m *markdown) cells(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if !m.keep[c] {
			continue
		}
		switch c.DataAtom {
		case atom.Thead, atom.Tbody, atom.Tfoot:
			m.cells(c)
		case atom.Tr:
			m.end()
			m.cells(c)
			m.end()
		default:
			m.node(c)
		}
	}
}

func (m *markdown) rows(n *html.Node) ([][]string, int) {
	var rows [][]string
	columns := 0
	for d := range n.Descendants() {
		if d.DataAtom != atom.Tr || !m.keep[d] || nearest(d, atom.Table) != n {
			continue
		}
		var row []string
		for c := d.FirstChild; c != nil; c = c.NextSibling {
			if c.DataAtom != atom.Td && c.DataAtom != atom.Th {
				continue
			}
			row = append(row, strings.ReplaceAll(m.inline(c), "|", `\|`))
			for span := columnSpan(c); span > 1 && len(row) < widestTable; span-- {
				row = append(row, "")
			}
		}
		if len(row) > 0 {
			rows = append(rows, row)
			columns = max(columns, len(row))
		}
	}
	return withoutEmptyColumns(rows, columns)
}

// withoutEmptyColumns drops the columns without a word, which pages use as
// margins.
func withoutEmptyColumns(rows [][]string, columns int) ([][]string, int) {
	filled := make([]bool, columns)
	for _, row := range rows {
		for c, cell := range row {
			filled[c] = filled[c] || cell != ""
		}
	}
	kept := 0
	for i, row := range rows {
		full := row[:0]
		for c, cell := range row {
			if filled[c] {
				full = append(full, cell)
			}
		}
		rows[i] = full
		kept = max(kept, len(full))
	}
	return rows, kept
}

func columnSpan(n *html.Node) int {
	span, ok := number(attr(n, "colspan"))
	if !ok {
		return 1
	}
	return int(span)
}

// isLayout tells whether a table holds what no cell of data does.
func (m *markdown) isLayout(n *html.Node) bool {
	if attr(n, "role") == "presentation" {
		return true
	}
	paragraphs := 0
	for d := range n.Descendants() {
		if !m.keep[d] {
			continue
		}
		switch d.DataAtom {
		case atom.Table, atom.H1, atom.H2, atom.H3, atom.Article, atom.Section, atom.Pre:
			return true
		case atom.P:
			paragraphs++
		case atom.Td:
			if len(innerText(d)) > 600 {
				return true
			}
		}
	}
	return paragraphs > 40
}

func nearest(n *html.Node, tag atom.Atom) *html.Node {
	for at := n.Parent; at != nil; at = at.Parent {
		if at.DataAtom == tag {
			return at
		}
	}
	return nil
}

func child(n *html.Node, tag atom.Atom) *html.Node {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == tag {
			return c
		}
	}
	return nil
}
