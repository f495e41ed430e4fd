package extract

import (
	"math"

	"golang.org/x/net/html/atom"
)

// vector collects the features of one block, in a fixed order.
type vector struct{ at []float32 }

func (v *vector) add(x ...float32) { v.at = append(v.at, x...) }

func (v *vector) flag(b bool) {
	if b {
		v.add(1)
	} else {
		v.add(0)
	}
}

func (v *vector) log(n int) { v.add(float32(math.Log1p(float64(n)))) }

func (v *vector) share(a, b int) {
	if b == 0 {
		v.add(0)
		return
	}
	v.add(float32(a) / float32(b))
}

// nowhere stands for "not found" in features that are distances.
const nowhere = 20

// describer computes features over one page.
type describer struct {
	o     *outline
	style []textStyle
	first int   // block of the first h1, or -1
	prose []int // for each block, blocks to the nearest prose before it
	ahead []int // and after it
}

// features describes every block of a page.
func (o *outline) features() [][]float32 {
	d := describer{o: o, first: -1}
	d.style = o.textStyles()
	for i := range o.blocks {
		if d.first < 0 && o.elements[o.blocks[i].parent].node.DataAtom == atom.H1 {
			d.first = i
		}
	}
	d.measureProse()
	rows := make([][]float32, len(o.blocks))
	for i := range o.blocks {
		v := vector{at: make([]float32, 0, 256)}
		d.own(&v, i)
		d.ancestors(&v, i)
		d.containers(&v, i)
		d.position(&v, i)
		d.neighbours(&v, i)
		rows[i] = v.at
	}
	return rows
}

func (d *describer) measureProse() {
	n := len(d.o.blocks)
	d.prose, d.ahead = make([]int, n), make([]int, n)
	last := -1000
	for i := range n {
		if d.o.blocks[i].isProse() {
			last = i
		}
		d.prose[i] = min(i-last, 200)
	}
	last = n + 1000
	for i := n - 1; i >= 0; i-- {
		if d.o.blocks[i].isProse() {
			last = i
		}
		d.ahead[i] = min(last-i, 200)
	}
}

func (d *describer) own(v *vector, i int) {
	b, s := &d.o.blocks[i], &d.style[i]
	e := &d.o.elements[b.parent]
	v.log(len(b.tokens))
	v.log(len(b.text))
	v.share(b.linked, len(b.tokens))
	v.add(d.tagCode(b), float32(headingLevel(e.node)))
	v.add(float32(min(b.copy, 5)))
	v.flag(b.once)
	v.share(b.bold, len(b.tokens))
	v.add(float32(min(b.breaks, 10)))
	v.add(s.stops, s.commas, s.digits, s.uppers, s.wordLength, s.small)
	v.flag(s.endsSentence)
	v.flag(s.startsUpper)
	v.flag(s.dateLike)
	v.flag(s.priced)
	v.flag(s.separators)
	v.flag(d.o.title != "" && squash(b.text) == d.o.title)
	for _, hit := range s.phrases {
		v.flag(hit)
	}
	v.log(e.twins)
	v.add(float32(min(e.index, 30)))
	v.add(float32(min(e.depth, 40)))
	v.add(float32(len(b.nodes)))
	for g := range groupCount {
		v.flag((b.groups|e.groups)&(1<<g) != 0)
	}
}

// tagCode orders tags by how often they are main content.
func (d *describer) tagCode(b *block) float32 {
	switch d.o.elements[b.parent].node.DataAtom {
	case atom.P:
		return 10
	case atom.Pre, atom.Blockquote:
		return 9
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return 8
	case atom.Li:
		return 7
	case atom.Dd, atom.Dt:
		return 6
	case atom.Td:
		return 5
	case atom.Th, atom.Caption:
		return 4
	case atom.Figcaption:
		return 3
	case atom.Button, atom.Legend, atom.Summary:
		return 2
	case atom.Section, atom.Article, atom.Main:
		return 1
	}
	return 0
}

func (d *describer) position(v *vector, i int) {
	o, b := d.o, &d.o.blocks[i]
	v.share(i, len(o.blocks))
	v.share(b.starts, o.words)
	v.log(b.starts)
	v.log(o.words - b.starts)
	if d.first < 0 {
		v.add(-100)
	} else {
		v.add(float32(max(-99, min(i-d.first, 200))))
	}
	v.add(float32(d.prose[i]), float32(d.ahead[i]))
	heading, level := 0, 0
	for k := i - 1; k >= max(0, i-nowhere); k-- {
		if level = headingLevel(o.elements[o.blocks[k].parent].node); level > 0 {
			heading = i - k
			break
		}
	}
	v.add(float32(heading), float32(level))
}

func (d *describer) neighbours(v *vector, i int) {
	for _, step := range []int{-2, -1, 1, 2} {
		k := i + step
		if k < 0 || k >= len(d.o.blocks) {
			v.add(-1, -1, -1, -1, -1, -1)
			continue
		}
		n := &d.o.blocks[k]
		v.log(len(n.tokens))
		v.share(n.linked, len(n.tokens))
		v.add(d.tagCode(n), d.style[k].stops)
		v.flag(n.parent == d.o.blocks[i].parent)
		v.add(float32(d.meeting(i, k)))
	}
}

// meeting is how many levels above a block the element is that holds another
// block too.
func (d *describer) meeting(i, k int) int {
	a, b := d.o.blocks[i].parent, d.o.blocks[k].parent
	up := 0
	for a != b && up < nowhere {
		switch {
		case a < 0 || b < 0:
			return nowhere
		case d.o.elements[a].depth >= d.o.elements[b].depth:
			a = d.o.elements[a].parent
			up++
		default:
			b = d.o.elements[b].parent
		}
	}
	return up
}

func (d *describer) pageFeatures() []float32 {
	var v vector
	o := d.o
	prose, linked, headings, long := 0, 0, 0, 0
	for i := range o.blocks {
		b := &o.blocks[i]
		linked += b.linked
		if b.isProse() {
			prose += len(b.tokens)
			long++
		}
		if headingLevel(o.elements[b.parent].node) > 0 {
			headings++
		}
	}
	v.log(o.words)
	v.log(len(o.blocks))
	v.share(prose, o.words)
	v.share(linked, o.words)
	v.log(headings)
	v.log(long)
	counts := [groupCount]int{}
	for i := range o.elements {
		for g := range groupCount {
			if o.elements[i].groups&(1<<g) != 0 {
				counts[g]++
			}
		}
	}
	for _, g := range []group{groupForum, groupComment, groupProduct, groupCard, groupArticle, groupAnswer, groupReview} {
		v.share(counts[g], len(o.elements))
	}
	return v.at
}
