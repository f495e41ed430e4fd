// Package progress shows how a research goes on: a live tree on a terminal, plain
// lines elsewhere.
package progress

import (
	"strings"
	"time"
	"unicode"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
)

// Tree is a research as its events tell it.
type Tree struct {
	Status  string
	Reason  string
	Started time.Time
	Ended   time.Time

	roots   []*node
	queries map[string]*node
}

// node is one query.
type node struct {
	text     string
	status   string
	reason   string
	depth    int32
	searched bool
	pages    map[string]string
	findings int32
	children []*node
}

// NewTree makes the tree of a research of which nothing is known yet.
func NewTree() *Tree {
	return &Tree{queries: make(map[string]*node)}
}

// Apply adds what an event tells.
func (t *Tree) Apply(e *researchv1.Event) {
	subject, what, _ := strings.Cut(e.GetType(), ".")
	switch subject {
	case "research":
		t.research(what, e)
	case "query":
		t.query(what, e)
	case "website":
		if n := t.queries[e.GetQueryId()]; n != nil {
			n.pages[e.GetUrl()] = what
			n.findings += e.GetCount()
		}
	}
}

func (t *Tree) research(status string, e *researchv1.Event) {
	t.Status, t.Reason = status, e.GetReason()
	switch status {
	case "running":
		if t.Started.IsZero() {
			t.Started = e.GetAt().AsTime()
		}
	case "completed", "failed", "cancelled":
		t.Ended = e.GetAt().AsTime()
	}
}

func (t *Tree) query(what string, e *researchv1.Event) {
	if what == "planned" {
		n := &node{text: printable(e.GetQueryText()), status: "processing", depth: e.GetDepth(), pages: make(map[string]string)}
		t.queries[e.GetQueryId()] = n
		if parent := t.queries[e.GetParentQueryId()]; parent != nil {
			parent.children = append(parent.children, n)
		} else {
			t.roots = append(t.roots, n)
		}
		return
	}
	n := t.queries[e.GetQueryId()]
	if n == nil {
		return
	}
	switch what {
	case "searched":
		n.searched = true
	case "completed", "failed":
		n.status, n.reason = what, e.GetReason()
	}
}

// Totals are the sums over the tree.
type Totals struct {
	Queries, QueriesEnded         int
	Pages, PagesRead, PagesFailed int
	Findings                      int
}

// Totals adds the tree up.
func (t *Tree) Totals() Totals {
	var sum Totals
	for _, n := range t.queries {
		sum.Queries++
		if n.status != "processing" {
			sum.QueriesEnded++
		}
		sum.Findings += int(n.findings)
		for _, status := range n.pages {
			sum.Pages++
			switch status {
			case "analyzed":
				sum.PagesRead++
			case "failed":
				sum.PagesFailed++
			}
		}
	}
	return sum
}

// printable takes control characters out of text that comes from elsewhere: a
// terminal would obey them.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}
