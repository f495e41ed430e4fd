package extract

import "golang.org/x/net/html"

// consensus describes each block by what a first look made of the blocks around
// it: its neighbours, its containers, and the blocks that are marked up alike.
func (o *outline) consensus(first []float32) [][]float32 {
	sums := o.sumsBelow(first)
	alike, keys := o.alike(first)
	page := 0
	total := float32(0)
	for i := range o.blocks {
		page += len(o.blocks[i].tokens)
		total += first[i] * float32(len(o.blocks[i].tokens))
	}
	rows := make([][]float32, len(o.blocks))
	for i := range o.blocks {
		var v vector
		v.add(first[i])
		for _, step := range []int{-4, -3, -2, -1, 1, 2, 3, 4} {
			if k := i + step; k >= 0 && k < len(first) {
				v.add(first[k])
			} else {
				v.add(-1)
			}
		}
		v.add(o.window(first, i, -12, -1), o.window(first, i, 1, 12), o.window(first, i, -40, 40))
		same := alike[keys[i]]
		v.add(same.mean())
		v.log(same.count)
		seen, blocks := 0, 1
		for at := o.blocks[i].parent; at >= 0 && seen < levels; at = o.elements[at].parent {
			if e := &o.elements[at]; e.blocks > blocks {
				blocks = e.blocks
				seen++
				v.add(sums[at] / float32(max(1, e.words)))
			}
		}
		for ; seen < levels; seen++ {
			v.add(-1)
		}
		v.add(total / float32(max(1, page)))
		rows[i] = v.at
	}
	return rows
}

// sumsBelow adds up, for each element, the words below it that count as content.
func (o *outline) sumsBelow(first []float32) []float32 {
	sums := make([]float32, len(o.elements))
	for i := range o.blocks {
		for at := o.blocks[i].parent; at >= 0; at = o.elements[at].parent {
			sums[at] += first[i] * float32(len(o.blocks[i].tokens))
		}
	}
	return sums
}

// window is the mean over the blocks from i+from to i+to, by their words.
func (o *outline) window(first []float32, i, from, to int) float32 {
	sum, words := float32(0), float32(0)
	for k := max(0, i+from); k <= min(len(first)-1, i+to); k++ {
		w := float32(len(o.blocks[k].tokens))
		sum += first[k] * w
		words += w
	}
	if words == 0 {
		return -1
	}
	return sum / words
}

// tally is a weighted mean in the making.
type tally struct {
	sum, words float32
	count      int
}

func (t tally) mean() float32 {
	if t.words == 0 {
		return -1
	}
	return t.sum / t.words
}

// alike sums up the blocks by how they are marked up: tag and class of the three
// innermost elements.
func (o *outline) alike(first []float32) (map[uint64]tally, []uint64) {
	groups := map[uint64]tally{}
	keys := make([]uint64, len(o.blocks))
	for i := range o.blocks {
		key := uint64(0)
		for at, up := o.blocks[i].parent, 0; at >= 0 && up < 3; at, up = o.elements[at].parent, up+1 {
			key = mix([]uint64{key, nameHash(o.elements[at].node)})
		}
		keys[i] = key
		t := groups[key]
		w := float32(len(o.blocks[i].tokens))
		t.sum += first[i] * w
		t.words += w
		t.count++
		groups[key] = t
	}
	return groups, keys
}

func nameHash(n *html.Node) uint64 {
	h := uint64(14695981039346656037)
	for _, s := range []string{n.Data, attr(n, "class")} {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
	}
	return h
}
