package analyzer

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/fathom-research/fathom/llm"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/analyzer/internal/locate"
	"github.com/fathom-research/fathom/services/analyzer/internal/prompt"
	"github.com/fathom-research/fathom/services/analyzer/internal/window"
)

// maxExtractions bounds what one page gives, the most relevant first.
const maxExtractions = 24

// extract lets the model read the page window by window. The calls come one after
// another, so that their order in the journal is the same at every delivery.
func (s *Service) extract(ctx context.Context, client llm.Client, page *workv1.AnalyzeTask) (*workv1.AnalyzeResult, llm.Usage, error) {
	windows := window.Split(page.GetText(), page.GetSections(), s.config.windowTokens())
	windows = window.Nearest(page.GetText(), windows, page.GetObjective()+" "+page.GetQuery(), s.config.Windows)
	index := locate.New(page.GetText())
	result := &workv1.AnalyzeResult{}
	var usage llm.Usage
	for i, part := range windows {
		request := prompt.Extract(page, part, i+1, len(windows))
		reader := reader{page: page, index: index, part: part}
		_, used, err := llm.Structured(ctx, client, request, reader.check)
		usage = usage.Add(used)
		if err != nil {
			return nil, usage, err
		}
		result.Extractions = append(result.Extractions, reader.found...)
		result.Unlocated += reader.unlocated
	}
	result.Extractions = best(result.Extractions)
	return result, usage, nil
}

// reader turns the answer about one window into extractions.
type reader struct {
	page      *workv1.AnalyzeTask
	index     *locate.Index
	part      window.Window
	reminded  bool
	found     []*workv1.Extraction
	unlocated int32
}

var errNotVerbatim = errors.New("none of the quotes stands on the page: copy each quote from the page letter by letter, or return an empty list")

// check locates every quote. An answer of which no quote is on the page is refused
// once; a model that can't do better gives nothing for this window.
func (r *reader) check(answer *prompt.Answer) error {
	r.found, r.unlocated = nil, 0
	for _, item := range answer.Extractions {
		span, ok := r.index.Find(item.Quote, r.part.Start, r.part.End)
		if !ok {
			r.unlocated++
			continue
		}
		r.found = append(r.found, r.extraction(item, span))
	}
	if len(r.found) == 0 && r.unlocated > 0 && !r.reminded {
		r.reminded = true
		return errNotVerbatim
	}
	return nil
}

func (r *reader) extraction(item prompt.Item, span locate.Span) *workv1.Extraction {
	section := sectionAt(r.page.GetSections(), span.Start)
	extraction := &workv1.Extraction{
		Quote: r.page.GetText()[span.Start:span.End],
		Start: int32(span.Start), End: int32(span.End),
		Url: r.page.GetUrl(), Title: r.page.GetTitle(), Published: r.page.GetPublished(),
		HeadingPath: section.GetHeadingPath(), Page: section.GetPage(),
		Relevance: relevance(item.Relevance),
	}
	extraction.Claim = claim(r.page, extraction, item.Claim)
	return extraction
}

func relevance(given float64) float64 {
	if math.IsNaN(given) {
		return 0
	}
	// Some models answer in percent or from 1 to 10 whatever the schema says.
	switch {
	case given > 10:
		given /= 100
	case given > 1:
		given /= 10
	}
	return min(max(given, 0), 1)
}

func sectionAt(sections []*workv1.Section, offset int) *workv1.Section {
	for _, section := range sections {
		if int(section.GetStart()) <= offset && offset < int(section.GetEnd()) {
			return section
		}
	}
	return nil
}

// best drops doubles and the least relevant of too many, and returns the others in
// the order of the page.
func best(extractions []*workv1.Extraction) []*workv1.Extraction {
	slices.SortStableFunc(extractions, func(a, b *workv1.Extraction) int {
		return cmp.Compare(b.GetRelevance(), a.GetRelevance())
	})
	type place struct{ start, end int32 }
	seen := make(map[place]bool)
	kept := make([]*workv1.Extraction, 0, len(extractions))
	for _, e := range extractions {
		at := place{e.GetStart(), e.GetEnd()}
		if seen[at] || len(kept) == maxExtractions {
			continue
		}
		seen[at] = true
		kept = append(kept, e)
	}
	slices.SortStableFunc(kept, func(a, b *workv1.Extraction) int { return cmp.Compare(a.GetStart(), b.GetStart()) })
	return kept
}
