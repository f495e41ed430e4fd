package evidence

import (
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// candidate is a page with what it gives to each query, by the query's place.
type candidate struct {
	url   string
	gives map[int]float64
}

// choose picks at most sources pages, one after another: each time the one whose
// extractions are most relevant in sum, where a query counts the less the more pages
// were picked for it. So no part of a deep tree is left out for another. Without a
// bound all pages are taken.
func choose(queries []*workv1.ReportQuery, sources int) map[string]bool {
	pages := candidates(queries)
	kept := make(map[string]bool)
	if sources <= 0 || len(pages) <= sources {
		for _, page := range pages {
			kept[page.url] = true
		}
		return kept
	}
	served := make(map[int]float64)
	for len(kept) < sources {
		best, most := -1, 0.0
		for i, page := range pages {
			if gain := page.gain(served); !kept[page.url] && gain > most {
				best, most = i, gain
			}
		}
		if best < 0 {
			break
		}
		kept[pages[best].url] = true
		for query := range pages[best].gives {
			served[query]++
		}
	}
	return kept
}

func (c candidate) gain(served map[int]float64) float64 {
	sum := 0.0
	for query, relevance := range c.gives {
		sum += relevance / (1 + served[query])
	}
	return sum
}

// enough bounds what one page can give to one query: ten extractions are not ten
// times as good as one.
const enough = 3.0

func candidates(queries []*workv1.ReportQuery) []candidate {
	var pages []candidate
	places := make(map[string]int)
	for query, asked := range queries {
		for _, extraction := range asked.GetExtractions() {
			place, known := places[extraction.GetUrl()]
			if !known {
				place = len(pages)
				places[extraction.GetUrl()] = place
				pages = append(pages, candidate{url: extraction.GetUrl(), gives: make(map[int]float64)})
			}
			gives := pages[place].gives
			// An extraction of no stated relevance is still one.
			gives[query] = min(enough, gives[query]+0.1+extraction.GetRelevance())
		}
	}
	return pages
}
