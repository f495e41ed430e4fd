package extract

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// word writes the paragraphs and tables of a document's body as Markdown.
type word struct {
	out      strings.Builder
	numbered map[string]bool
	links    map[string]string
	styles   map[string]string // names of styles by their ids, in lower case

	para  strings.Builder // the paragraph that is open
	style string
	list  string // "list/level" of the paragraph
	run   struct{ text, deleted, hidden bool }
	again int // depth of what repeats other content for old readers
	link  string
	row   []string
	rows  [][]string
	cell  []string
	depth int // of tables
}

func (w *word) read(data []byte) error {
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			w.start(t)
		case xml.EndElement:
			w.endElement(t.Name.Local)
		case xml.CharData:
			if w.run.text && !w.run.deleted && !w.run.hidden && w.again == 0 {
				w.para.WriteString(escapeAll(string(t)))
			}
		}
	}
}

func escapeAll(s string) string {
	if strings.ContainsAny(s, "`*\\<") {
		return escaper.Replace(s)
	}
	return s
}

func (w *word) start(t xml.StartElement) {
	if t.Name.Local == "Fallback" {
		w.again++
	}
	if w.again > 0 {
		return
	}
	switch t.Name.Local {
	case "p":
		// What stands before a box of text in a paragraph is one of its own.
		w.paragraph()
		w.style, w.list = "", ""
	case "pStyle":
		w.style = strings.ToLower(attribute(t, "val"))
		if name := w.styles[attribute(t, "val")]; name != "" {
			w.style = name
		}
	case "numId":
		w.list = attribute(t, "val") + w.list
	case "ilvl":
		w.list += "/" + attribute(t, "val")
	case "r":
		w.run.hidden = false
	case "vanish":
		w.run.hidden = attribute(t, "val") != "0" && attribute(t, "val") != "false"
	case "t":
		w.run.text = true
	case "del", "moveFrom":
		w.run.deleted = true
	case "tab":
		w.para.WriteByte(' ')
	case "br", "cr":
		w.para.WriteByte(' ')
	case "noBreakHyphen":
		w.para.WriteByte('-')
	case "footnoteReference", "endnoteReference":
		w.para.WriteString("[^" + attribute(t, "id") + "]")
	case "hyperlink":
		if w.link = w.links[attribute(t, "id")]; w.link != "" {
			w.para.WriteByte('[')
		}
	case "tbl":
		w.depth++
	case "tc":
		if w.depth == 1 {
			w.cell = nil
		}
	}
}

func (w *word) endElement(name string) {
	if w.again > 0 {
		if name == "Fallback" {
			w.again--
		}
		return
	}
	switch name {
	case "t":
		w.run.text = false
	case "del", "moveFrom":
		w.run.deleted = false
	case "hyperlink":
		if w.link != "" {
			w.para.WriteString("](" + w.link + ")")
			w.link = ""
		}
	case "p":
		w.paragraph()
	case "tc":
		if w.depth == 1 {
			w.row = append(w.row, strings.ReplaceAll(strings.Join(w.cell, " "), "|", `\|`))
		}
	case "tr":
		if w.depth == 1 {
			w.rows = append(w.rows, w.row)
			w.row = nil
		}
	case "tbl":
		if w.depth--; w.depth == 0 {
			w.table()
		}
	}
}

func (w *word) paragraph() {
	text := squash(w.para.String())
	w.para.Reset()
	if text == "" {
		return
	}
	if w.depth > 0 {
		w.cell = append(w.cell, text)
		return
	}
	switch level := w.headingLevel(); {
	case level > 0:
		w.out.WriteString("\n" + strings.Repeat("#", level) + " " + text + "\n\n")
	case w.list != "" && strings.Contains(w.list, "/"):
		_, at, _ := strings.Cut(w.list, "/")
		marker := "- "
		if w.numbered[w.list] {
			marker = "1. "
		}
		indent, _ := number(at)
		w.out.WriteString(strings.Repeat("   ", min(int(indent), 8)) + marker + text + "\n")
	case strings.Contains(w.style, "quote"):
		w.out.WriteString("\n> " + text + "\n\n")
	default:
		w.out.WriteString("\n" + text + "\n\n")
	}
}

// headingLevel reads the name of a paragraph's style: "title", and "heading 1" to
// "heading 6".
func (w *word) headingLevel() int {
	if w.style == "title" {
		return 1
	}
	level, ok := strings.CutPrefix(w.style, "heading")
	level = strings.TrimSpace(level)
	if !ok || len(level) != 1 || level[0] < '1' || level[0] > '6' {
		return 0
	}
	return int(level[0] - '0')
}

func (w *word) table() {
	columns := 0
	for _, row := range w.rows {
		columns = max(columns, len(row))
	}
	w.out.WriteByte('\n')
	for i, row := range w.rows {
		for len(row) < columns && (i == 0 || columns <= widestTable) {
			row = append(row, "")
		}
		w.out.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			w.out.WriteString("|" + strings.Repeat(" --- |", columns) + "\n")
		}
	}
	w.out.WriteByte('\n')
	w.rows = nil
}

// readNotes adds the footnotes and endnotes below the body.
func (w *word) readNotes(archive *zip.Reader) {
	for _, name := range []string{"word/footnotes.xml", "word/endnotes.xml"} {
		data, err := partOf(archive, name)
		if err != nil {
			continue
		}
		var notes struct {
			Note []struct {
				ID   string `xml:"id,attr"`
				Type string `xml:"type,attr"`
				XML  []byte `xml:",innerxml"`
			} `xml:",any"`
		}
		if xml.Unmarshal(data, &notes) != nil {
			continue
		}
		for _, n := range notes.Note {
			if n.Type != "" {
				continue
			}
			inner := word{links: w.links}
			if inner.read(n.XML) == nil {
				if text := squash(inner.out.String()); text != "" {
					w.out.WriteString("\n[^" + n.ID + "]: " + text + "\n")
				}
			}
		}
	}
}

func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
