// Package forest has forests of regression trees: how they are grown by gradient
// boosting, kept in a file, and asked.
package forest

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
)

// Forest gives the probability of something for a row of features. The zero
// Forest says one half.
type Forest struct {
	bias  float32
	roots []int32 // where each tree begins in nodes
	nodes []node
}

// node is a question, or an answer when its feature is leaf. A row whose feature
// is at most value goes to left, and else to the node behind it.
type node struct {
	Feature int16
	Left    uint16 // from the root of the tree
	Value   float32
}

const leaf = -1

// Probability is the forest's answer for one row.
func (f *Forest) Probability(row []float32) float32 {
	sum := f.bias
	for _, root := range f.roots {
		sum += answer(f.nodes[root:], row)
	}
	return sigmoid(sum)
}

func answer(tree []node, row []float32) float32 {
	n := &tree[0]
	for n.Feature != leaf {
		next := int(n.Left)
		if row[n.Feature] > n.Value {
			next++
		}
		n = &tree[next]
	}
	return n.Value
}

func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

// atOnce is how many trees all rows are asked of before the next ones are: as many
// as a processor's nearest cache holds.
const atOnce = 32

// All is the forest's answer for each of rows.
func (f *Forest) All(rows [][]float32) []float32 {
	answers := make([]float32, len(rows))
	for i := range answers {
		answers[i] = f.bias
	}
	for roots := range slices.Chunk(f.roots, atOnce) {
		for i, row := range rows {
			for _, root := range roots {
				answers[i] += answer(f.nodes[root:], row)
			}
		}
	}
	for i := range answers {
		answers[i] = sigmoid(answers[i])
	}
	return answers
}

// head stands before the roots and the nodes of a forest in a file.
type head struct {
	Bias         float32
	Trees, Nodes uint32
}

// Write writes the forest, little-endian.
func (f *Forest) Write(w io.Writer) error {
	for _, part := range []any{head{f.bias, uint32(len(f.roots)), uint32(len(f.nodes))}, f.roots, f.nodes} {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return fmt.Errorf("write forest: %w", err)
		}
	}
	return nil
}

// largest is how many trees or nodes a forest may have.
const largest = 1 << 22

// Read reads a forest that Write wrote, and makes sure that each of its questions
// can be asked of a row of that many features.
func Read(r io.Reader, features int) (*Forest, error) {
	var h head
	if err := binary.Read(r, binary.LittleEndian, &h); err != nil {
		return nil, fmt.Errorf("read forest: %w", err)
	}
	if h.Trees > largest || h.Nodes > largest {
		return nil, fmt.Errorf("read forest: %d trees with %d nodes are too many", h.Trees, h.Nodes)
	}
	f := &Forest{bias: h.Bias, roots: make([]int32, h.Trees), nodes: make([]node, h.Nodes)}
	for _, part := range []any{f.roots, f.nodes} {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return nil, fmt.Errorf("read forest: %w", err)
		}
	}
	return f, f.check(features)
}

// check makes sure that every walk from a root ends in a leaf.
func (f *Forest) check(features int) error {
	for i, root := range f.roots {
		end := len(f.nodes)
		if i+1 < len(f.roots) {
			end = int(f.roots[i+1])
		}
		if root < 0 || int(root) >= end || end > len(f.nodes) {
			return fmt.Errorf("read forest: tree %d from node %d to %d", i, root, end)
		}
		tree := f.nodes[root:end]
		for k, n := range tree {
			if n.Feature == leaf {
				continue
			}
			if n.Feature < leaf || int(n.Feature) >= features || int(n.Left) <= k || int(n.Left)+1 >= len(tree) {
				return fmt.Errorf("read forest: node %d of tree %d is broken", k, i)
			}
		}
	}
	return nil
}
