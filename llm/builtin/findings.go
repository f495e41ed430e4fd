package builtin

import (
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

const (
	// sameClaim is the share of a sentence's terms that another must have to be
	// taken for a repetition of it.
	sameClaim = 0.8
	// claimInQuote is the share of a claim's terms that its own quote must have.
	claimInQuote = 0.7
)

// evidence is one extraction as the report reads it.
type evidence struct {
	*workv1.Extraction
	sentence string
	terms    []string
	set      termSet
	negated  bool
}

// fact is a sentence for the report with everything that supports it: its own
// extraction first, then those of other places that say the same.
type fact struct {
	evidence
	support []evidence
	score   float64
	// bonus is the part of the score that raises no bar for others.
	bonus float64
	// coverage is the share of the prompt that the sentence's own words cover.
	coverage float64
	// partly is the same for the clause of the prompt that fits best.
	partly float64
	// facet is the part of the report that the fact belongs to, or nil, and fit how
	// well it does.
	facet *facet
	fit   float64
	// topics are the leading themes that the fact's page or section is about, and central
	// how much of what the fact says the others of the page say too.
	topics  []*theme
	central float64
	// led says that this is enough for a place in the report.
	led bool
	// states says that the fact tells what a leading theme is.
	states bool
	// around is filled when it is first asked for.
	around *surroundings
	order  int
}

// published is the earliest date of what supports the fact, or zero.
func (f *fact) published() time.Time {
	var earliest time.Time
	for _, e := range f.support {
		if e.GetPublished() == nil || !e.GetPublished().IsValid() {
			continue
		}
		if at := e.GetPublished().AsTime(); earliest.IsZero() || at.Before(earliest) {
			earliest = at
		}
	}
	return earliest
}

// readEvidence takes the extractions of a research that can be relied on, each
// place of a page once, and counts those that can't: their claim is not in their
// quote, and the quote is no sentence.
func (l *lexer) readEvidence(queries []*workv1.ReportQuery) ([]evidence, int) {
	type place struct {
		url        string
		start, end int32
		sentence   string
	}
	known := map[place]int{}
	var found []evidence
	dropped := 0
	for _, query := range queries {
		for _, e := range query.GetExtractions() {
			sentence, ok := l.supported(e)
			if !ok {
				dropped++
				continue
			}
			sentence = l.tidied(sentence)
			at := place{e.GetUrl(), e.GetStart(), e.GetEnd(), sentence}
			if i, again := known[at]; again {
				if e.GetRelevance() > found[i].GetRelevance() {
					found[i].Extraction = e
				}
				continue
			}
			known[at] = len(found)
			terms := l.terms(sentence)
			found = append(found, evidence{
				Extraction: e, sentence: sentence, terms: terms,
				set: newTermSet(terms), negated: negated(sentence),
			})
		}
	}
	return found, dropped
}

// supported gives the sentence that an extraction may stand for in a report: its
// claim when the quote has the claim's words and figures, else the quote itself.
func (l *lexer) supported(e *workv1.Extraction) (string, bool) {
	if e.GetUrl() == "" || !utf8.ValidString(e.GetQuote()) || !utf8.ValidString(e.GetUrl()) {
		return "", false
	}
	claim := strings.Join(strings.Fields(e.GetClaim()), " ")
	quote := withoutLabel(plain(e.GetQuote()))
	if l.english && e.GetClaim() != "" && utf8.ValidString(claim) && len(claim) <= 2*longestQuote {
		whole := l.set(quote + " " + e.GetTitle() + " " + strings.Join(e.GetHeadingPath(), " "))
		terms := l.set(claim)
		if terms.within(whole) >= claimInQuote && terms.numbersWithin(whole) && negated(claim) == negated(quote) && endsSentence(claim) {
			return claim, true
		}
	}
	if rowClaim(claim, e.GetQuote()) && l.set(claim).numbersWithin(l.set(quote+" "+e.GetTitle())) {
		return claim, true
	}
	if l.wholeSentence(quote, listItem) && len(quote) <= longestQuote {
		return quote, true
	}
	return "", false
}

// merge makes facts of what says the same. The sentence that stays is the one that the
// research holds for more relevant, the shorter of two alike.
func merge(all []evidence) []*fact {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool {
		return all[order[a]].GetRelevance() > all[order[b]].GetRelevance()
	})
	index := newFactIndex(all)
	for _, i := range order {
		e := all[i]
		if f := index.same(e); f != nil {
			f.support = append(f.support, e)
			continue
		}
		index.add(&fact{evidence: e, support: []evidence{e}, order: len(index.facts)})
	}
	return index.facts
}

// factIndex finds the facts that a sentence may repeat without looking at all.
type factIndex struct {
	facts  []*fact
	byPage map[string][]*fact
	// byTerm has each fact under its rarest terms only: so many that whoever has
	// sameClaim of the fact's terms must have one of these.
	byTerm    map[string][]*fact
	frequency map[string]int
}

func newFactIndex(all []evidence) *factIndex {
	index := &factIndex{byPage: map[string][]*fact{}, byTerm: map[string][]*fact{}, frequency: map[string]int{}}
	for _, e := range all {
		for term := range e.set {
			index.frequency[term]++
		}
	}
	return index
}

func (x *factIndex) add(f *fact) {
	x.facts = append(x.facts, f)
	x.byPage[f.GetUrl()] = append(x.byPage[f.GetUrl()], f)
	terms := make([]string, 0, len(f.set))
	for term := range f.set {
		terms = append(terms, term)
	}
	sort.Slice(terms, func(a, b int) bool {
		if x.frequency[terms[a]] != x.frequency[terms[b]] {
			return x.frequency[terms[a]] < x.frequency[terms[b]]
		}
		return terms[a] < terms[b]
	})
	rare := int((1-sameClaim)*float64(len(terms))+1e-9) + 1
	for _, term := range terms[:min(rare, len(terms))] {
		x.byTerm[term] = append(x.byTerm[term], f)
	}
}

// same is the fact that e repeats most, or nil.
func (x *factIndex) same(e evidence) *fact {
	var best *fact
	bestShare := 0.0
	looked := map[*fact]bool{}
	look := func(candidates []*fact) {
		for _, f := range candidates {
			if looked[f] {
				continue
			}
			looked[f] = true
			if share := repeats(f, e); share > bestShare || share == bestShare && share > 0 && f.order < best.order {
				best, bestShare = f, share
			}
		}
	}
	look(x.byPage[e.GetUrl()])
	for term := range e.set {
		look(x.byTerm[term])
	}
	return best
}

// repeats is how much of the fact's sentence e says too; 0 when e does not say it.
func repeats(f *fact, e evidence) float64 {
	if f.GetUrl() == e.GetUrl() && f.GetStart() < e.GetEnd() && e.GetStart() < f.GetEnd() && f.set.within(e.set) > 0.5 {
		return 1
	}
	if f.negated != e.negated || len(f.set) < 4 || !f.set.numbersWithin(e.set) {
		return 0
	}
	share := f.set.within(e.set)
	if share < sameClaim || e.set.within(f.set) < 0.4 {
		return 0
	}
	return share
}

// rowClaim says whether a claim is a table's row read with its header: it has all
// cells of the quote, in their order.
func rowClaim(claim, quote string) bool {
	if !strings.HasPrefix(strings.TrimSpace(quote), "|") || !endsSentence(claim) || len(claim) > 2*longestQuote {
		return false
	}
	at := 0
	for _, value := range cells(quote) {
		if !isWord(value) {
			continue
		}
		found := strings.Index(claim[at:], value)
		if found < 0 {
			return false
		}
		at += found + len(value)
	}
	return at > 0
}
