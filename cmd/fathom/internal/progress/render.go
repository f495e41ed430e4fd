package progress

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Lines draws the tree in at most height lines of at most width characters. Queries
// that are done give way first when there is no room for all.
func (t *Tree) Lines(now time.Time, width, height int) []string {
	d := drawing{width: width}
	for i, n := range t.roots {
		d.add(n, "", i == len(t.roots)-1)
	}
	lines := []string{shorten(t.headline(now), width)}
	return append(lines, d.fit(max(0, height-1))...)
}

func (t *Tree) headline(now time.Time) string {
	sum := t.Totals()
	elapsed := ""
	if !t.Started.IsZero() {
		end := now
		if !t.Ended.IsZero() {
			end = t.Ended
		}
		elapsed = fmt.Sprintf(" · %s", max(0, end.Sub(t.Started)).Round(time.Second))
	}
	return fmt.Sprintf("%s%s · %d of %d queries · %s · %s",
		t.Status, elapsed, sum.QueriesEnded, sum.Queries, pages(sum), findings(sum.Findings))
}

func pages(sum Totals) string {
	text := fmt.Sprintf("%d of %d pages read", sum.PagesRead, sum.Pages)
	if sum.PagesFailed > 0 {
		text += fmt.Sprintf(", %d failed", sum.PagesFailed)
	}
	return text
}

func findings(n int) string {
	if n == 1 {
		return "1 finding"
	}
	return fmt.Sprintf("%d findings", n)
}

type drawn struct {
	text string
	done bool
}

type drawing struct {
	width int
	lines []drawn
}

func (d *drawing) add(n *node, indent string, last bool) {
	branch, below := "├─ ", "│  "
	if last {
		branch, below = "└─ ", "   "
	}
	d.lines = append(d.lines, drawn{text: d.line(n, indent+branch), done: n.status != "processing"})
	for i, child := range n.children {
		d.add(child, indent+below, i == len(n.children)-1)
	}
}

// line keeps the state at the right visible and shortens the query's text.
func (d *drawing) line(n *node, prefix string) string {
	state := "  " + n.state()
	room := d.width - utf8.RuneCountInString(prefix) - 2 - utf8.RuneCountInString(state)
	return shorten(prefix+n.mark()+" "+shorten(n.text, max(8, room))+state, d.width)
}

func (n *node) mark() string {
	switch n.status {
	case "completed":
		return "✓"
	case "failed":
		return "✗"
	default:
		return "●"
	}
}

func (n *node) state() string {
	switch {
	case n.status == "failed":
		return strings.TrimSpace("failed " + strings.ReplaceAll(n.reason, "_", " "))
	case !n.searched:
		return "searching"
	case len(n.pages) == 0:
		return "no hits"
	}
	settled := 0
	for _, status := range n.pages {
		if status == "analyzed" || status == "failed" {
			settled++
		}
	}
	if settled < len(n.pages) {
		return fmt.Sprintf("%d/%d pages", settled, len(n.pages))
	}
	return findings(int(n.findings))
}

// fit leaves lines out until height suffices, and says how many.
func (d *drawing) fit(height int) []string {
	drop := 0
	if len(d.lines) > height {
		drop = len(d.lines) - height + 1
	}
	left := drop
	var lines []string
	for _, line := range d.lines {
		if left > 0 && line.done {
			left--
			continue
		}
		lines = append(lines, line.text)
	}
	if drop > 0 && len(lines) >= height {
		lines = lines[:max(0, height-1)]
	}
	if drop > 0 && height > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", len(d.lines)-len(lines)))
	}
	return lines
}

// shorten cuts text to width characters.
func shorten(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	runes := []rune(text)
	return string(runes[:max(0, width-1)]) + "…"
}
