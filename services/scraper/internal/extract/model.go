package extract

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/fathom-research/fathom/services/scraper/internal/extract/forest"
)

// Model is what was learned from pages whose main content is known.
type Model struct {
	// Kinds tell from a page's row how like each of PageKinds it is.
	Kinds []*forest.Forest
	// Article tells from the rows with what the libraries kept whether a block is
	// main content; First without that, and Second with what First and Kinds said.
	Article, First, Second *forest.Forest
}

//go:embed model.bin
var modelFile []byte

// trained is the model that ships with the package. Its file is part of the
// program: one that can't be read is a fault of the build.
var trained = sync.OnceValue(func() *Model {
	m, err := ReadModel(bytes.NewReader(modelFile))
	if err != nil {
		panic(err)
	}
	return m
})

// mostFeatures is more than any row has: the forests were made for these rows, so
// they are checked only for being forests.
const mostFeatures = 1 << 10

// ReadModel reads a model that Write wrote.
func ReadModel(r io.Reader) (*Model, error) {
	m := &Model{Kinds: make([]*forest.Forest, len(PageKinds))}
	for i, f := range m.forests() {
		var err error
		if *f, err = forest.Read(r, mostFeatures); err != nil {
			return nil, fmt.Errorf("read forest %d of the model: %w", i, err)
		}
	}
	return m, nil
}

// Write writes the model as the file that the package embeds.
func (m *Model) Write(w io.Writer) error {
	for i, f := range m.forests() {
		if err := (*f).Write(w); err != nil {
			return fmt.Errorf("write forest %d of the model: %w", i, err)
		}
	}
	return nil
}

// forests is where the forests of a model are, in the order of its file.
func (m *Model) forests() []**forest.Forest {
	all := []**forest.Forest{&m.Article, &m.First, &m.Second}
	for i := range m.Kinds {
		all = append(all, &m.Kinds[i])
	}
	return all
}

// believed is by how much the odds of the kind rise that a page declares: few of
// the pages that were learned from declare one, and those that do are right.
const believed = 10

// KindsOf is how like each of PageKinds a page is; all add up to one.
func (m *Model) KindsOf(page []float32) []float32 {
	shares, sum := make([]float32, len(m.Kinds)), float32(1e-6)
	declared := declaredKind(page)
	for i, f := range m.Kinds {
		shares[i] = f.Probability(page)
		if PageKinds[i] == declared {
			shares[i] *= believed
		}
		sum += shares[i]
	}
	for i := range shares {
		shares[i] /= sum
	}
	return shares
}

// kindOf names the likeliest kind of a page.
func (m *Model) kindOf(page []float32) string {
	shares := m.KindsOf(page)
	return PageKinds[slices.Index(shares, slices.Max(shares))]
}
