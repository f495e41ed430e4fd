package progress

import (
	"fmt"
	"io"
	"strings"
	"time"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
)

// View shows a research while it goes on. It is used by one goroutine.
type View interface {
	// See takes an event in.
	See(event *researchv1.Event)
	// Tick is called now and then, so that times go on.
	Tick()
	// Close leaves the final picture and ends the view.
	Close()
}

// Plain prints a line for what matters.
type Plain struct {
	out   io.Writer
	tree  *Tree
	began time.Time
}

// NewPlain makes a View for logs and pipes.
func NewPlain(out io.Writer) *Plain {
	return &Plain{out: out, tree: NewTree()}
}

// See implements View.
func (p *Plain) See(e *researchv1.Event) {
	p.tree.Apply(e)
	if p.began.IsZero() && e.GetType() == "research.running" {
		p.began = e.GetAt().AsTime()
	}
	text := p.describe(e)
	if text == "" {
		return
	}
	elapsed := time.Duration(0)
	if !p.began.IsZero() {
		elapsed = max(0, e.GetAt().AsTime().Sub(p.began))
	}
	fmt.Fprintf(p.out, "%7.1fs  %s\n", elapsed.Seconds(), text)
}

func (p *Plain) describe(e *researchv1.Event) string {
	because := ""
	if e.GetReason() != "" && e.GetReason() != "ok" {
		because = " (" + strings.ReplaceAll(e.GetReason(), "_", " ") + ")"
	}
	n := p.tree.queries[e.GetQueryId()]
	switch e.GetType() {
	case "query.planned":
		return fmt.Sprintf("query    %s%s", strings.Repeat("  ", int(max(0, e.GetDepth()-1))), printable(e.GetQueryText()))
	case "query.completed", "query.failed":
		if n == nil {
			return ""
		}
		return fmt.Sprintf("%-8s %s%s: %s%s", strings.TrimPrefix(e.GetType(), "query."), strings.Repeat("  ", int(max(0, n.depth-1))), n.text, n.state(), because)
	case "website.failed":
		return fmt.Sprintf("page     %s failed%s: %s", printable(e.GetUrl()), because, printable(e.GetMessage()))
	case "report.written":
		return "report written"
	case "error_output.written":
		return "something could not be processed: see the error output"
	}
	if status, ok := strings.CutPrefix(e.GetType(), "research."); ok {
		return "research " + status + because
	}
	return ""
}

// Tick implements View.
func (p *Plain) Tick() {}

// Close implements View.
func (p *Plain) Close() {
	sum := p.tree.Totals()
	fmt.Fprintf(p.out, "%d queries, %s, %s\n", sum.Queries, pages(sum), findings(sum.Findings))
}

// Live redraws the tree in place on a terminal.
type Live struct {
	out  io.Writer
	size func() (width, height int)
	tree *Tree
	tall int
}

// NewLive makes a View for a terminal of the given size, which may change.
func NewLive(out io.Writer, size func() (width, height int)) *Live {
	return &Live{out: out, size: size, tree: NewTree()}
}

// See implements View.
func (l *Live) See(e *researchv1.Event) { l.tree.Apply(e) }

// Tick implements View.
func (l *Live) Tick() {
	width, height := l.size()
	// The last line and column stay free: writing there may scroll or wrap.
	l.draw(l.tree.Lines(time.Now(), max(20, width-1), max(4, height-1)))
}

// Close implements View. The final picture has all lines, however many.
func (l *Live) Close() {
	width, _ := l.size()
	l.draw(l.tree.Lines(time.Now(), max(20, width-1), 1<<20))
}

// draw goes up over what was drawn before, and clears each line it writes and all
// that is below.
func (l *Live) draw(lines []string) {
	var out strings.Builder
	if l.tall > 0 {
		fmt.Fprintf(&out, "\x1b[%dA", l.tall)
	}
	for _, line := range lines {
		out.WriteString("\r\x1b[2K" + line + "\n")
	}
	out.WriteString("\x1b[J")
	l.tall = len(lines)
	// A terminal that is gone needs no picture.
	_, _ = io.WriteString(l.out, out.String())
}
