package forest

import (
	"math/rand/v2"
	"slices"
	"sort"
)

// bins is how many values of a feature are told apart at most while growing.
const bins = 64

// binned is a set of rows by columns, each value replaced by its place among the
// cuts of its column.
type binned struct {
	cuts   [][]float32
	places [][]uint8
}

// sampled is how many values of a column its cuts are chosen from.
const sampled = 20_000

func bin(rows [][]float32) binned {
	if len(rows) == 0 {
		return binned{}
	}
	b := binned{cuts: make([][]float32, len(rows[0])), places: make([][]uint8, len(rows[0]))}
	random := rand.New(rand.NewPCG(5, 5))
	values := make([]float32, min(sampled, len(rows)))
	for column := range b.cuts {
		for i := range values {
			values[i] = rows[i][column]
			if len(rows) > sampled {
				values[i] = rows[random.IntN(len(rows))][column]
			}
		}
		cuts := cutsOf(values)
		places := make([]uint8, len(rows))
		for i, row := range rows {
			x := row[column]
			places[i] = uint8(sort.Search(len(cuts), func(k int) bool { return x <= cuts[k] }))
		}
		b.cuts[column], b.places[column] = cuts, places
	}
	return b
}

// cutsOf parts values between all of them when they are few, and else into parts
// of like size.
func cutsOf(values []float32) []float32 {
	slices.Sort(values)
	different := slices.Compact(slices.Clone(values))
	var cuts []float32
	if len(different) <= bins {
		for i := 1; i < len(different); i++ {
			cuts = append(cuts, (different[i-1]+different[i])/2)
		}
		return cuts
	}
	for i := 1; i < bins; i++ {
		if x := values[i*len(values)/bins]; len(cuts) == 0 || x > cuts[len(cuts)-1] {
			cuts = append(cuts, x)
		}
	}
	return cuts
}

// histogram sums up the slopes of rows by the bins of one column.
type histogram [bins]gradient

// job is a node whose rows may be parted.
type job struct {
	at, depth  int
	rows       []int32
	sum        gradient
	histograms []histogram
}

// tree grows one tree into g.current.
func (g *grower) tree(rows []int32) {
	g.current = []node{{Feature: leaf}}
	g.pathways = append(g.pathways[:0], job{rows: rows, sum: g.sumOf(rows), histograms: g.count(rows)})
	for len(g.pathways) > 0 {
		j := g.pathways[len(g.pathways)-1]
		g.pathways = g.pathways[:len(g.pathways)-1]
		g.current[j.at].Value = float32(-j.sum.first / (j.sum.second + g.params.Shrink) * g.params.Rate)
		if j.depth < g.params.Depth && j.sum.second >= 2*g.params.Smallest {
			g.part(j)
		}
	}
}

// part splits a node where the loss falls most, unless it falls nowhere.
func (g *grower) part(j job) {
	if j.histograms == nil {
		j.histograms = g.count(j.rows)
	}
	best, column, place := 1e-6, -1, 0
	whole := j.sum.worth(g.params.Shrink)
	for k, c := range g.columns {
		var low gradient
		for b := range g.binned.cuts[c] {
			low.add(j.histograms[k][b])
			high := j.sum.minus(low)
			if low.second < g.params.Smallest || high.second < g.params.Smallest {
				continue
			}
			if gain := low.worth(g.params.Shrink) + high.worth(g.params.Shrink) - whole; gain > best {
				best, column, place = gain, c, b
			}
		}
	}
	if column < 0 {
		return
	}
	var low, high []int32
	for _, i := range j.rows {
		if int(g.binned.places[column][i]) <= place {
			low = append(low, i)
		} else {
			high = append(high, i)
		}
	}
	left := len(g.current)
	g.current[j.at] = node{Feature: int16(column), Left: uint16(left), Value: g.binned.cuts[column][place]}
	g.current = append(g.current, node{Feature: leaf}, node{Feature: leaf})
	first := job{at: left, depth: j.depth + 1, rows: low, sum: g.sumOf(low)}
	second := job{at: left + 1, depth: j.depth + 1, rows: high, sum: g.sumOf(high)}
	if j.depth+1 < g.params.Depth {
		g.share(&first, &second, j.histograms)
	}
	g.pathways = append(g.pathways, first, second)
}

// share counts the smaller one of two nodes; the other has the rest of what was
// counted for both.
func (g *grower) share(first, second *job, both []histogram) {
	if len(first.rows) > len(second.rows) {
		first, second = second, first
	}
	first.histograms = g.count(first.rows)
	for k := range both {
		for b := range both[k] {
			both[k][b] = both[k][b].minus(first.histograms[k][b])
		}
	}
	second.histograms = both
}

func (g *grower) count(rows []int32) []histogram {
	all := make([]histogram, len(g.columns))
	for k, c := range g.columns {
		places, h := g.binned.places[c], &all[k]
		for _, i := range rows {
			h[places[i]].add(g.slope[i])
		}
	}
	return all
}

func (g *grower) sumOf(rows []int32) gradient {
	var sum gradient
	for _, i := range rows {
		sum.add(g.slope[i])
	}
	return sum
}
