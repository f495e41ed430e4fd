package extract

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
)

// model is what was learned from pages whose main content is known.
type model struct {
	kinds         []forest // in the order of kinds
	article       forest   // features with what the libraries kept
	first, second forest   // features without, and with the first look's consensus
}

//go:embed model.bin
var modelFile []byte

// trained is the model that ships with the package. Its file is part of the
// program: one that can't be read is a fault of the build.
var trained = sync.OnceValue(func() *model {
	m, err := readModel(modelFile)
	if err != nil {
		panic(err)
	}
	return m
})

// readModel reads the forests of a model, each as its counts followed by its
// arrays, little-endian.
func readModel(file []byte) (*model, error) {
	r := bytes.NewReader(file)
	m := &model{kinds: make([]forest, len(kinds))}
	forests := []*forest{&m.article, &m.first, &m.second}
	for i := range m.kinds {
		forests = append(forests, &m.kinds[i])
	}
	for i, f := range forests {
		if err := f.read(r); err != nil {
			return nil, fmt.Errorf("read forest %d of the model: %w", i, err)
		}
	}
	return m, nil
}

// kindOf names the likeliest kind of a page.
func (m *model) kindOf(row []float32) pageKind {
	best, kind := float32(-1), pageKind{}
	for i := range m.kinds {
		p := m.kinds[i].probability(row)
		if p > best {
			best, kind.name = p, kinds[i]
		}
		if kinds[i] == kindArticle {
			kind.article = p
		}
	}
	return kind
}

// forest is a sum of regression trees over features, as gradient boosting makes
// it. A leaf has no feature; the right child of a node follows its left one.
type forest struct {
	bias    float32
	roots   []int32
	feature []int16 // -1 in a leaf
	value   []float32
	left    []int32
}

func (f *forest) read(r *bytes.Reader) error {
	var head struct {
		Bias         float32
		Trees, Nodes int32
	}
	if err := binary.Read(r, binary.LittleEndian, &head); err != nil {
		return err
	}
	if head.Trees < 0 || head.Nodes < 0 || int(head.Nodes) > r.Len() || int(head.Trees) > r.Len() {
		return fmt.Errorf("%d trees with %d nodes do not fit", head.Trees, head.Nodes)
	}
	f.bias = head.Bias
	f.roots = make([]int32, head.Trees)
	f.feature = make([]int16, head.Nodes)
	f.value = make([]float32, head.Nodes)
	f.left = make([]int32, head.Nodes)
	for _, part := range []any{f.roots, f.feature, f.value, f.left} {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return nil
}

// probability is the forest's answer for one row: the row goes left where its
// feature is at most the node's value.
func (f *forest) probability(row []float32) float32 {
	sum := f.bias
	for _, at := range f.roots {
		for f.feature[at] >= 0 {
			next := f.left[at]
			if row[f.feature[at]] > f.value[at] {
				next++
			}
			at = next
		}
		sum += f.value[at]
	}
	return float32(1 / (1 + math.Exp(-float64(sum))))
}

func (f *forest) all(rows [][]float32) []float32 {
	answers := make([]float32, len(rows))
	for i := range rows {
		answers[i] = f.probability(rows[i])
	}
	return answers
}
