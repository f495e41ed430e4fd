package builtin

import (
	"regexp"
	"strings"
	"unicode/utf8"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

type blockKind int

const (
	paragraph blockKind = iota
	listItem
	tableRow
)

// block is a piece of a page that a sentence does not cross.
type block struct {
	kind blockKind
	// start and end are the offsets of the block's words, its mark (a bullet, say) left out.
	start, end int
	path       []string
	page       int32
	// term is the name that stands above a block that explains it.
	term span
	// header are the cells above a table row.
	header []string
}

var (
	headingLine = regexp.MustCompile(`^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$`)
	itemLine    = regexp.MustCompile(`^[ \t]*(?:>[ \t]?)*(?:[-*+•‣▪][ \t]+|\d{1,3}[.)][ \t]+)`)
	quoteLine   = regexp.MustCompile(`^[ \t]*(?:>[ \t]?)+`)
	ruleLine    = regexp.MustCompile(`^[ \t]*(?:[-=*_][ \t]*){3,}$`)
	tableRule   = regexp.MustCompile(`^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*$`)
)

// blockReader walks the lines of a page's Markdown.
type blockReader struct {
	text   string
	blocks []block
	open   bool
	// path are the headings above, by level, for a page without sections.
	path   [6]string
	header []string
	inCode bool
}

// blocks parts Markdown into what sentences are looked for in. Code and
// headings are left out; headings are in the path of what stands below them.
func blocks(text string, sections []*workv1.Section) []block {
	reader := &blockReader{text: text}
	for start := 0; start < len(text); {
		end := strings.IndexByte(text[start:], '\n')
		if end < 0 {
			end = len(text)
		} else {
			end += start
		}
		reader.line(start, end)
		start = end + 1
	}
	if len(sections) > 0 {
		placeInSections(reader.blocks, sections)
	}
	return reader.blocks
}

func (r *blockReader) line(start, end int) {
	line := r.text[start:end]
	trimmed := strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
		r.inCode = !r.inCode
		r.open = false
	case r.inCode:
	case trimmed == "":
		r.open = false
		r.header = nil
	case headingLine.MatchString(line):
		r.heading(line)
	case tableRule.MatchString(line) && strings.Contains(line, "|"):
		r.open = false
	case ruleLine.MatchString(line):
		r.open = false
	case strings.HasPrefix(trimmed, "|") && strings.Count(trimmed, "|") > 2:
		r.row(start, end)
	case itemLine.MatchString(line):
		r.add(listItem, start+len(itemLine.FindString(line)), end)
	default:
		begin := start + len(quoteLine.FindString(line))
		if r.open && begin == start {
			r.blocks[len(r.blocks)-1].end = end
			return
		}
		r.add(paragraph, begin, end)
	}
}

func (r *blockReader) heading(line string) {
	r.open = false
	match := headingLine.FindStringSubmatch(line)
	level := len(match[1]) - 1
	r.path[level] = plain(match[2])
	for deeper := level + 1; deeper < len(r.path); deeper++ {
		r.path[deeper] = ""
	}
}

// row takes the first row of a table for its header.
func (r *blockReader) row(start, end int) {
	r.open = false
	if r.header == nil {
		r.header = cells(r.text[start:end])
		return
	}
	r.add(tableRow, start, end)
	r.blocks[len(r.blocks)-1].header = r.header
	r.open = false
}

func (r *blockReader) add(kind blockKind, start, end int) {
	sp := trimSpan(r.text, span{start, end})
	if sp.start >= sp.end {
		return
	}
	var path []string
	for _, heading := range r.path {
		if heading != "" {
			path = append(path, heading)
		}
	}
	r.blocks = append(r.blocks, block{kind: kind, start: sp.start, end: sp.end, path: path})
	r.open = true
}

func cells(line string) []string {
	fields := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	for i, field := range fields {
		fields[i] = plain(field)
	}
	return fields
}

// placeInSections gives each block the heading path and page that the page's
// own sections have for it. Both stand in the order of the text.
func placeInSections(all []block, sections []*workv1.Section) {
	at := 0
	for i := range all {
		for at < len(sections)-1 && int(sections[at].GetEnd()) <= all[i].start {
			at++
		}
		section := sections[at]
		if int(section.GetStart()) > all[i].start || int(section.GetEnd()) <= all[i].start {
			continue
		}
		all[i].path = validPath(section.GetHeadingPath())
		all[i].page = section.GetPage()
	}
}

func validPath(path []string) []string {
	var valid []string
	for _, heading := range path {
		if utf8.ValidString(heading) {
			valid = append(valid, heading)
		}
	}
	return valid
}
