package forest_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/services/scraper/internal/extract/forest"
)

// corners is data that no single feature tells anything of: both or neither of
// two features are large. The third is noise.
func corners() forest.Data {
	random := rand.New(rand.NewPCG(1, 1))
	var data forest.Data
	for range 2000 {
		row := []float32{random.Float32(), random.Float32(), random.Float32()}
		wanted := float32(0)
		if (row[0] > 0.5) == (row[1] > 0.5) {
			wanted = 1
		}
		data.Add(row, wanted, 1)
	}
	return data
}

func params() forest.Params {
	return forest.Params{Trees: 40, Depth: 4, Rate: 0.2, Smallest: 1, Shrink: 1, Rows: 0.8, Columns: 0.9, Forests: 2}
}

func TestGrowLearnsWhatFeaturesTellTogether(t *testing.T) {
	t.Parallel()
	f := forest.Grow(corners(), params())
	require.Equal(t, f.Probability([]float32{0.9, 0.9, 0}), f.All([][]float32{{0.9, 0.9, 0}})[0])
	answers := f.All([][]float32{{0.9, 0.9, 0}, {0.1, 0.1, 1}, {0.9, 0.1, 1}, {0.1, 0.9, 0}})
	require.Greater(t, answers[0], float32(0.9))
	require.Greater(t, answers[1], float32(0.9))
	require.Less(t, answers[2], float32(0.1))
	require.Less(t, answers[3], float32(0.1))
}

func TestGrowHeedsWeights(t *testing.T) {
	t.Parallel()
	var data forest.Data
	for range 100 {
		data.Add([]float32{0}, 1, 3)
		data.Add([]float32{0}, 0, 1)
	}
	require.InDelta(t, 0.75, forest.Grow(data, params()).Probability([]float32{0}), 0.01)
}

func TestGrowOfNothing(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 0.5, forest.Grow(forest.Data{}, params()).Probability(nil), 0.01)
}

func TestForestSurvivesItsFile(t *testing.T) {
	t.Parallel()
	grown := forest.Grow(corners(), params())
	var file bytes.Buffer
	require.NoError(t, grown.Write(&file))
	read, err := forest.Read(&file, 3)
	require.NoError(t, err)
	require.Zero(t, file.Len())
	rows := corners().Rows
	require.Equal(t, grown.All(rows), read.All(rows))
}

func TestReadRefusesQuestionsThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	require.NoError(t, forest.Grow(corners(), params()).Write(&file))
	_, err := forest.Read(bytes.NewReader(file.Bytes()), 1)
	require.ErrorContains(t, err, "broken")
	_, err = forest.Read(bytes.NewReader(file.Bytes()[:file.Len()/2]), 3)
	require.Error(t, err)
}

// FuzzRead asks every forest that can be read: it ends, and does not panic.
func FuzzRead(f *testing.F) {
	var file bytes.Buffer
	p := params()
	p.Trees, p.Forests = 3, 1
	if err := forest.Grow(corners(), p).Write(&file); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Fuzz(func(_ *testing.T, body []byte) {
		read, err := forest.Read(bytes.NewReader(body), 3)
		if err == nil {
			read.Probability([]float32{0, 1, 2})
		}
	})
}
