package forest

import (
	"math"
	"math/rand/v2"
)

// Params say how a forest grows.
type Params struct {
	Trees, Depth int
	// Rate is how much of what is left to learn each tree takes on.
	Rate float64
	// Smallest is how much weight a leaf needs, Shrink what pulls it to zero.
	Smallest, Shrink float64
	// Rows and Columns are the shares of both that each tree sees.
	Rows, Columns float64
	// Forests is how many forests are averaged, each grown from another seed.
	Forests int
}

// Data is what a forest learns from: rows of features, for each the probability
// that is wanted, and how much the row counts.
type Data struct {
	Rows   [][]float32
	Wanted []float32
	Weight []float32
}

// Add adds one row.
func (d *Data) Add(row []float32, wanted, weight float32) {
	d.Rows = append(d.Rows, row)
	d.Wanted = append(d.Wanted, wanted)
	d.Weight = append(d.Weight, weight)
}

// Grow learns a forest. The same data and parameters give the same forest.
func Grow(data Data, p Params) *Forest {
	g := grower{data: data, params: p, binned: bin(data.Rows)}
	whole := &Forest{}
	forests := max(1, p.Forests)
	for seed := range forests {
		one := g.forest(uint64(seed + 1))
		whole.bias += one.bias / float32(forests)
		for _, root := range one.roots {
			whole.roots = append(whole.roots, root+int32(len(whole.nodes)))
		}
		for _, n := range one.nodes {
			if n.Feature == leaf {
				n.Value /= float32(forests)
			}
			whole.nodes = append(whole.nodes, n)
		}
	}
	return whole
}

// grower grows forests by boosting: each tree fits the gradient of the logistic
// loss that the trees before it leave.
type grower struct {
	data     Data
	params   Params
	binned   binned
	slope    []gradient // of the loss, by row
	columns  []int      // that the tree sees
	sofar    []float32  // sum of the trees, by row
	current  []node
	pathways []job
}

// gradient is the first and the second derivative of the loss, or a sum of them.
type gradient struct{ first, second float64 }

func (g *gradient) add(o gradient) { g.first += o.first; g.second += o.second }

func (g gradient) minus(o gradient) gradient {
	return gradient{g.first - o.first, g.second - o.second}
}

// worth is by how much a leaf with this sum lowers the loss.
func (g gradient) worth(shrink float64) float64 { return g.first * g.first / (g.second + shrink) }

func (g *grower) forest(seed uint64) *Forest {
	random := rand.New(rand.NewPCG(seed, 7))
	f := &Forest{bias: g.prior()}
	n := len(g.data.Rows)
	g.slope, g.sofar = make([]gradient, n), make([]float32, n)
	for i := range g.sofar {
		g.sofar[i] = f.bias
	}
	for range g.params.Trees {
		rows := g.sample(random)
		g.columns = g.columns[:0]
		for column := range g.binned.cuts {
			if len(g.binned.cuts[column]) > 0 && random.Float64() < g.params.Columns {
				g.columns = append(g.columns, column)
			}
		}
		g.tree(rows)
		for i, row := range g.data.Rows {
			g.sofar[i] += answer(g.current, row)
		}
		f.roots = append(f.roots, int32(len(f.nodes)))
		f.nodes = append(f.nodes, g.current...)
	}
	return f
}

// prior is the forest's answer before its first tree: the mean.
func (g *grower) prior() float32 {
	sum, wanted := 1e-6, 0.5e-6
	for i, w := range g.data.Weight {
		sum += float64(w)
		wanted += float64(w * g.data.Wanted[i])
	}
	mean := min(0.999, max(0.001, wanted/sum))
	return float32(math.Log(mean / (1 - mean)))
}

// sample picks the rows that the next tree sees, and computes their slopes.
func (g *grower) sample(random *rand.Rand) []int32 {
	rows := make([]int32, 0, len(g.slope))
	for i := range g.slope {
		if random.Float64() >= g.params.Rows {
			continue
		}
		p, w := float64(sigmoid(g.sofar[i])), float64(g.data.Weight[i])
		g.slope[i] = gradient{w * (p - float64(g.data.Wanted[i])), w * max(p*(1-p), 1e-4)}
		rows = append(rows, int32(i))
	}
	return rows
}
