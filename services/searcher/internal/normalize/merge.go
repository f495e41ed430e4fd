package normalize

import (
	"strings"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

const (
	maxTitle   = 512
	maxSnippet = 2048
	maxEngine  = 64
)

// Hits collects the hits of a search, the best first: those that can be fetched and
// cited, each page once, at most as many as are wanted.
type Hits struct {
	limit int
	hits  []*workv1.Hit
	pages map[string]*workv1.Hit
}

// NewHits makes an empty collection for at most limit hits.
func NewHits(limit int) *Hits {
	return &Hits{limit: limit, pages: make(map[string]*workv1.Hit)}
}

// Full reports whether as many hits are there as are wanted.
func (h *Hits) Full() bool { return len(h.hits) >= h.limit }

// All returns the hits, the best first.
func (h *Hits) All() []*workv1.Hit { return h.hits }

// Add takes a hit in and reports whether it was a page that was not there yet. A
// double keeps the place and the URL of the first and fills in what that one lacks.
func (h *Hits) Add(hit *workv1.Hit) bool {
	hit.Url = strings.TrimSpace(hit.GetUrl())
	normalized, err := URL(hit.GetUrl())
	if err != nil {
		return false
	}
	hit.NormalizedUrl = normalized
	hit.Title = Text(hit.GetTitle(), maxTitle)
	hit.Snippet = Text(hit.GetSnippet(), maxSnippet)
	hit.Engine = Text(hit.GetEngine(), maxEngine)
	if first, double := h.pages[normalized]; double {
		complete(first, hit)
		return false
	}
	if h.Full() {
		return false
	}
	h.pages[normalized] = hit
	h.hits = append(h.hits, hit)
	return true
}

func complete(first, double *workv1.Hit) {
	if first.GetTitle() == "" {
		first.Title = double.GetTitle()
	}
	if first.GetSnippet() == "" {
		first.Snippet = double.GetSnippet()
	}
	if first.GetPublished() == nil {
		first.Published = double.GetPublished()
	}
}
