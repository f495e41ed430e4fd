package extract

import (
	"slices"
	"sort"

	"golang.org/x/net/html/atom"
)

// largestForLibraries is how many elements a page may have for the two article
// libraries to be asked too: some of their steps take quadratic time.
const largestForLibraries = 20000

// mostBlocks is how many blocks a page may have to be scored. On a larger one, all
// that is not marked as furniture is kept.
const mostBlocks = 40_000

// Below articleFrom, which is how like an article a page is, it is read as none,
// above articleSure as one, and between them both ways are weighed.
const (
	articleFrom = 0.2
	articleSure = 0.6
)

// choose tells which blocks of a page are its main content. On articles two
// libraries are asked, and a forest decides that sees what they kept. On other
// pages those know too little, and two forests decide, the second of which sees
// what the first made of the rest of the page.
func (m *Model) choose(s *Sample) []bool {
	o := s.outline
	if len(o.blocks) > mostBlocks {
		return o.unmarked()
	}
	kinds := m.KindsOf(s.page)
	weight := min(1, max(0, (kinds[kindArticle]-articleFrom)/(articleSure-articleFrom)))
	if len(o.elements) > largestForLibraries {
		weight = 0
	}
	probability := make([]float32, len(o.blocks))
	if weight > 0 {
		for i, p := range m.Article.All(s.ArticleRows()) {
			probability[i] += weight * p
		}
	}
	if weight < 1 {
		first := m.First.All(s.BlockRows())
		for i, p := range m.Second.All(s.SecondRows(first, kinds)) {
			probability[i] += (1 - weight) * p
		}
	}
	return o.withoutLastHeadings(o.withoutCopies(o.likeliest(probability)))
}

// likeliest picks the blocks whose words make the best expected F1: the words
// that are rightly kept, against those kept and those that should be.
func (o *outline) likeliest(probability []float32) []bool {
	order := make([]int, len(o.blocks))
	wanted := float32(0)
	for i := range order {
		order[i] = i
		wanted += probability[i] * float32(len(o.blocks[i].tokens))
	}
	sort.SliceStable(order, func(a, b int) bool { return probability[order[a]] > probability[order[b]] })
	best, cut := float32(-1), float32(2)
	right, kept := float32(0), float32(0)
	for _, i := range order {
		words := float32(len(o.blocks[i].tokens))
		right += probability[i] * words
		kept += words
		if score := 2 * right / (kept + wanted); score > best {
			best, cut = score, probability[i]
		}
	}
	keep := make([]bool, len(o.blocks))
	for i := range keep {
		keep[i] = probability[i] >= cut
	}
	return keep
}

// copyWords is how long a block is that no author says twice on one page.
const copyWords = 15

// withoutCopies drops blocks of prose that were kept once already: pages hold
// the same text for wide and narrow screens.
func (o *outline) withoutCopies(keep []bool) []bool {
	keep = slices.Clone(keep)
	seen := map[string]bool{}
	for i := range o.blocks {
		b := &o.blocks[i]
		if !keep[i] || b.once || len(b.tokens) < copyWords {
			continue
		}
		keep[i] = !seen[b.text]
		seen[b.text] = true
	}
	return keep
}

// withoutLastHeadings drops headings at the end that nothing kept stands under, as
// those of what is related, unless headings are most of what was kept.
func (o *outline) withoutLastHeadings(keep []bool) []bool {
	kept, headings := 0, 0
	for i := range keep {
		if keep[i] {
			kept++
			headings += o.isHeading(i)
		}
	}
	if headings*2 > kept {
		return keep
	}
	for i := len(keep) - 1; i >= 0; i-- {
		if keep[i] && o.isHeading(i) == 0 {
			break
		}
		keep[i] = false
	}
	return keep
}

func (o *outline) isHeading(i int) int {
	if headingLevel(o.elements[o.blocks[i].parent].node) > 0 {
		return 1
	}
	return 0
}

// unmarked is every block that no element around it marks as furniture.
func (o *outline) unmarked() []bool {
	marked := make([]bool, len(o.elements))
	for i := range o.elements {
		e := &o.elements[i]
		switch e.node.DataAtom {
		case atom.Nav, atom.Footer, atom.Aside:
			marked[i] = true
		default:
			marked[i] = e.parent >= 0 && marked[e.parent]
		}
	}
	keep := make([]bool, len(o.blocks))
	for i := range keep {
		keep[i] = !marked[o.blocks[i].parent]
	}
	return keep
}
