package builtin

import "math"

// The usual values of BM25; sentences differ less in length than documents do,
// so length counts for less.
const (
	saturation = 1.2
	lengthPart = 0.4
)

// bm25 scores short texts against a weighted query (Robertson and Zaragoza, 2009).
type bm25 struct {
	documents int
	frequency map[string]int
	average   float64
}

func newBM25(documents []termSet, lengths []int) *bm25 {
	index := &bm25{documents: len(documents), frequency: map[string]int{}}
	total := 0
	for i, document := range documents {
		total += lengths[i]
		for term := range document {
			index.frequency[term]++
		}
	}
	if len(documents) > 0 {
		index.average = float64(total) / float64(len(documents))
	}
	return index
}

// rarity is the inverse document frequency of a term, never negative.
func (b *bm25) rarity(term string) float64 {
	df := float64(b.frequency[term])
	return math.Log(1 + (float64(b.documents)-df+0.5)/(df+0.5))
}

// score weighs how often each term of the query counts in a text of this length.
func (b *bm25) score(query *weights, counts func(term string) float64, length int) float64 {
	norm := 1.0
	if b.average > 0 {
		norm = 1 - lengthPart + lengthPart*float64(length)/b.average
	}
	sum := 0.0
	for _, term := range query.terms {
		if tf := counts(term); tf > 0 {
			sum += query.of[term] * b.rarity(term) * tf * (saturation + 1) / (tf + saturation*norm)
		}
	}
	return sum
}

// weights is a query: its terms in a fixed order, each with what it counts.
type weights struct {
	terms []string
	of    map[string]float64
}

// add counts each distinct term of a text once more.
func (w *weights) add(terms []string, weight float64) {
	if w.of == nil {
		w.of = map[string]float64{}
	}
	seen := termSet{}
	for _, term := range terms {
		if seen.has(term) {
			continue
		}
		seen[term] = struct{}{}
		if _, known := w.of[term]; !known {
			w.terms = append(w.terms, term)
		}
		w.of[term] += weight
	}
}

func (w *weights) total() float64 {
	sum := 0.0
	for _, term := range w.terms {
		sum += w.of[term]
	}
	return sum
}
