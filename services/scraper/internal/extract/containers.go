package extract

import "golang.org/x/net/html/atom"

// landmarks are the elements whose distance above a block tells what it is for.
var landmarks = []atom.Atom{
	atom.Header, atom.Footer, atom.Nav, atom.Aside, atom.Main, atom.Article, atom.Section,
	atom.Ul, atom.Ol, atom.Table, atom.Form, atom.Details, atom.Button, atom.Blockquote, atom.Figure,
	atom.Li, atom.Dl,
}

// ancestors adds how far above the block each group of names and each landmark
// stands, how often the groups are met in all, and roles of its own.
func (d *describer) ancestors(v *vector, i int) {
	var groups [groupCount]float32
	var marks [32]float32
	for g := range groups {
		groups[g] = nowhere
	}
	for m := range landmarks {
		marks[m] = nowhere
	}
	up, met := float32(0), groupSet(0)
	found := 0
	for at := d.o.blocks[i].parent; at >= 0 && up < nowhere; at = d.o.elements[at].parent {
		e := &d.o.elements[at]
		if fresh := e.groups &^ met; fresh != 0 && e.node.DataAtom != atom.Body && e.node.DataAtom != atom.Html {
			for g := range groupCount {
				if fresh&(1<<g) != 0 {
					groups[g] = up
				}
			}
			met |= e.groups
			found++
		}
		for m, tag := range landmarks {
			if e.node.DataAtom == tag && marks[m] == nowhere {
				marks[m] = up
			}
		}
		up++
	}
	v.add(groups[:]...)
	v.add(marks[:len(landmarks)]...)
	v.add(float32(found))
}

// levels is how many containers around a block are described.
const levels = 6

// containers describes the elements around a block that hold more than it, from
// the innermost on.
func (d *describer) containers(v *vector, i int) {
	o := d.o
	seen, blocks := 0, 1
	for at := o.blocks[i].parent; at >= 0 && seen < levels; at = o.elements[at].parent {
		e := &o.elements[at]
		if e.blocks <= blocks {
			continue
		}
		blocks = e.blocks
		seen++
		v.log(e.words)
		v.share(e.linked, e.words)
		v.log(e.blocks)
		v.share(e.words, o.words)
		v.share(e.words, e.blocks)
		v.share(e.long, e.words)
		v.log(e.twins)
		v.share(e.heading, e.blocks)
	}
	for ; seen < levels; seen++ {
		v.add(-1, -1, -1, -1, -1, -1, -1, -1)
	}
}
