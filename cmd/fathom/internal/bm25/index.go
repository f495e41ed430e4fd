// Package bm25 is a small full-text index in memory: Unicode words, English stems,
// ranked by BM25.
package bm25

import (
	"cmp"
	"math"
	"slices"
)

const (
	saturation   = 1.2
	lengthWeight = 0.75

	// titleWeight is how many occurrences in the body one in the title is worth.
	titleWeight = 4

	// leastShare is the share of a query's weight that a document must contain.
	// Below it the document shares only common words with the query, and a person
	// would not call it a hit.
	leastShare = 0.2
)

// Index is filled with Add and then searched. Searching is safe for concurrent
// use once nothing is added any more.
type Index struct {
	postings map[string][]posting
	lengths  []int
	total    int
}

type posting struct {
	document int
	count    int
}

// Hit is a document that answers a query.
type Hit struct {
	// Document counts from 0 in the order of Add.
	Document int
	Score    float64
}

// New makes an empty index.
func New() *Index {
	return &Index{postings: make(map[string][]posting)}
}

// Len is the number of documents.
func (x *Index) Len() int { return len(x.lengths) }

// Add appends a document.
func (x *Index) Add(title, body string) {
	document := len(x.lengths)
	counts := make(map[string]int)
	length := 0
	for term := range Terms(body) {
		counts[term]++
		length++
	}
	for term := range Terms(title) {
		counts[term] += titleWeight
		length++
	}
	for term, count := range counts {
		x.postings[term] = append(x.postings[term], posting{document, count})
	}
	x.lengths = append(x.lengths, length)
	x.total += length
}

// Search ranks the documents that answer the query, the best first.
func (x *Index) Search(query string) []Hit {
	scores, shares := x.score(distinct(query))
	hits := make([]Hit, 0, len(scores))
	for document, score := range scores {
		if shares[document] >= leastShare {
			hits = append(hits, Hit{Document: document, Score: score})
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Document, b.Document))
	})
	return hits
}

// score returns, per document, its BM25 score and the share of the query's weight
// that its terms make up.
func (x *Index) score(terms []string) (map[int]float64, map[int]float64) {
	average := float64(x.total) / float64(max(1, x.Len()))
	scores := make(map[int]float64)
	shares := make(map[int]float64)
	weight := 0.0
	for _, term := range terms {
		weight += x.rarity(term)
	}
	for _, term := range terms {
		rarity := x.rarity(term)
		for _, p := range x.postings[term] {
			count := float64(p.count)
			length := float64(x.lengths[p.document]) / max(1, average)
			scores[p.document] += rarity * count * (saturation + 1) /
				(count + saturation*(1-lengthWeight+lengthWeight*length))
			shares[p.document] += rarity / weight
		}
	}
	return scores, shares
}

// rarity is a term's inverse document frequency; a term that no document has
// weighs most.
func (x *Index) rarity(term string) float64 {
	holders := float64(len(x.postings[term]))
	return math.Log(1 + (float64(x.Len())-holders+0.5)/(holders+0.5))
}

func distinct(text string) []string {
	var terms []string
	seen := make(map[string]bool)
	for term := range Terms(text) {
		if !seen[term] {
			seen[term] = true
			terms = append(terms, term)
		}
	}
	return terms
}
