package builtin

import (
	"fmt"
	"math"
	"sort"
	"strings"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// finding is something that a chain came upon and that the prompt does not name.
type finding struct {
	text string
	// claim is the sentence it was found in first.
	claim string
	score float64
	order int
}

// openFacet is a part of the prompt with the share of it that the chain's
// extractions already cover.
type openFacet struct {
	text string
	// query is the facet in a few words.
	query    string
	answered float64
}

// fromFindings pairs the facets that are least answered with what the chain
// found and the research has asked for least.
func (p *planner) fromFindings(chain []*workv1.ChainLink) {
	facets := p.openFacets(chain)
	found := p.findings(chain)
	parent := chain[len(chain)-1]
	own := strings.Join(firstWords(p.join(parent.GetQuery()), 4), " ")
	for round := 0; round < len(found) && !p.full(); round++ {
		p.fromFinding(found[round], facets, round, own)
	}
	for _, facet := range facets {
		p.add(p.join(facet.query, p.subject.core(3)), "Find what is still open: "+shorten(facet.text, 200))
	}
	for i := range aspects {
		if p.full() {
			return
		}
		p.add(p.join(strings.Join(firstWords(p.join(parent.GetQuery()), 8), " "), aspects[i].words),
			fmt.Sprintf("Find "+aspects[i].purpose, shorten(parent.GetQuery(), 120)))
	}
}

// fromFinding asks for a finding with one facet; else, since that may fall to another
// parent, with what its own parent asked for, or with two facets.
func (p *planner) fromFinding(f finding, facets []openFacet, round int, own string) {
	ask := func(facet openFacet, more string) bool {
		return p.add(p.join(f.text, facet.query, more), fmt.Sprintf("Find what %s has to do with %s", f.text, shorten(facet.text, 160)))
	}
	at := func(i int) openFacet { return facets[i%len(facets)] }
	for shift := range facets {
		if ask(at(round+shift), "") {
			return
		}
	}
	for shift := range facets {
		if ask(at(round+shift), own) || ask(at(round+shift), at(round+shift+1).query) {
			return
		}
	}
}

// openFacets are the prompt's facets, the least answered first: what the chain
// has no word of, then the prompt's own parts.
func (p *planner) openFacets(chain []*workv1.ChainLink) []openFacet {
	var claims []termSet
	for _, link := range chain {
		for _, e := range link.GetExtractions() {
			claims = append(claims, p.subject.lex.set(cut(e.GetClaim(), longestQuote)))
		}
	}
	var facets []openFacet
	for _, text := range distinctFold(p.subject.parts()) {
		terms := newTermSet(p.subject.lex.informative(text))
		answered := 0.0
		for _, claim := range claims {
			answered = max(answered, terms.within(claim))
		}
		if len(terms) > 0 {
			facets = append(facets, openFacet{text: text, query: p.openWords(text, claims), answered: answered})
		}
	}
	sort.SliceStable(facets, func(a, b int) bool { return facets[a].answered < facets[b].answered })
	if len(facets) == 0 {
		facets = []openFacet{{text: p.subject.label(), query: p.subject.core(6)}}
	}
	return facets
}

// parts are the parts of a prompt that an answer may leave open.
func (s *subject) parts() []string {
	var parts []string
	if len(s.clauses) > 1 {
		parts = append(parts, s.clauses...)
	}
	parts = append(parts, s.sides...)
	for _, wish := range s.wishes {
		parts = append(parts, s.core(3)+", "+cut(wish.answer, 100))
	}
	for i, name := range s.names {
		parts = append(parts, strings.TrimSpace(name+" "+s.topicAt(i)))
	}
	parts = append(parts, s.topics...)
	if len(parts) < 2 {
		parts = append(parts, s.prompt)
	}
	return parts
}

// facetWords bounds a facet so that a finding has room beside it.
const facetWords = 8

// openWords are the words of a facet, those first that the fewest claims have.
func (p *planner) openWords(text string, claims []termSet) string {
	lex := p.subject.lex
	outlets := lex.set(strings.Join(p.subject.outlets, " . "))
	var kept []word
	seen := termSet{}
	for _, w := range lex.words(text) {
		if !w.stop && !outlets.has(w.stem) && !seen.has(w.stem) && !isGeneric(strings.ToLower(w.text)) {
			seen[w.stem] = struct{}{}
			kept = append(kept, w)
		}
	}
	if len(kept) > facetWords {
		frequency := map[string]int{}
		for _, w := range kept {
			for _, claim := range claims {
				if claim.has(w.stem) {
					frequency[w.stem]++
				}
			}
		}
		sort.SliceStable(kept, func(a, b int) bool { return frequency[kept[a].stem] < frequency[kept[b].stem] })
		kept = kept[:facetWords]
		sort.SliceStable(kept, func(a, b int) bool { return kept[a].start < kept[b].start })
	}
	words := make([]string, 0, len(kept))
	for _, w := range kept {
		words = append(words, w.text)
	}
	if len(words) == 0 {
		return lex.keywords(text, facetWords)
	}
	return strings.Join(words, " ")
}

func (s *subject) topicAt(i int) string {
	if len(s.topics) == 0 {
		return ""
	}
	return s.topics[i%len(s.topics)]
}

// findings are the names and figures that the chain's extractions have and the
// prompt has not. What is rare in the research weighs more, and so does what
// stands beside the prompt's own terms and in a relevant sentence.
func (p *planner) findings(chain []*workv1.ChainLink) []finding {
	s := p.subject
	asked := newTermSet(s.lex.informative(s.prompt))
	spread := p.spread(chain)
	inside := midSentenceCapitals(s.lex, chain)
	known := map[string]*finding{}
	var all []*finding
	best := mostRelevant(chain)
	heavy := s.lex.heft(asked, asked.has)
	for depth, link := range chain {
		// The parent's own findings are what its children are for.
		nearness := math.Pow(0.6, float64(len(chain)-1-depth))
		for _, e := range link.GetExtractions() {
			claim := cut(e.GetClaim(), longestQuote)
			terms := s.lex.set(claim)
			near := e.GetRelevance() / best * (0.1 + asked.within(terms))
			near *= near
			if s.lex.heft(asked, terms.has) < min(leastHeft, heftShare*heavy) {
				near *= strayShare
			}
			for _, name := range s.lex.newThings(claim, inside) {
				set := s.lex.set(name)
				if len(set) == 0 || set.within(asked) > 0.5 || set.within(p.taken()) == 1 || byline(claim, name) || fromOutlet(e.GetUrl(), []string{name}) {
					continue
				}
				key := fold(name)
				f := known[key]
				if f == nil {
					f = &finding{text: name, claim: claim, order: len(all)}
					known[key] = f
					all = append(all, f)
				}
				value := nearness * near * spread(set)
				if s.lex.beside(claim, name, asked) {
					f.score += value
				} else {
					f.score += passingShare * value
				}
			}
		}
	}
	sort.SliceStable(all, func(a, b int) bool { return all[a].score > all[b].score })
	found := make([]finding, 0, len(all))
	for _, f := range all {
		found = append(found, *f)
	}
	return found
}

// taken are the terms of the last queries that exist already.
func (p *planner) taken() termSet {
	if len(p.sets) == 0 {
		return nil
	}
	return p.sets[len(p.sets)-1]
}

// newThings are the names in a claim, or its telling phrases when it has none.
func (l *lexer) newThings(claim string, inside termSet) []string {
	names := l.names(claim, inside.has)
	if len(names) > 0 {
		return names
	}
	var long []string
	for _, phrase := range l.phrases(claim, 3) {
		if strings.Contains(phrase, " ") || len(phrase) > 7 {
			long = append(long, phrase)
		}
	}
	return long
}

// spread tells how rare terms are in the research: over the pages that the chain
// read, and over the queries that were asked.
func (p *planner) spread(chain []*workv1.ChainLink) func(termSet) float64 {
	pages := map[string]termSet{}
	for _, link := range chain {
		for _, e := range link.GetExtractions() {
			set := pages[e.GetUrl()]
			if set == nil {
				set = termSet{}
				pages[e.GetUrl()] = set
			}
			for term := range p.subject.lex.set(cut(e.GetClaim(), longestQuote)) {
				set[term] = struct{}{}
			}
		}
	}
	frequency := map[string]int{}
	for _, set := range pages {
		for term := range set {
			frequency[term]++
		}
	}
	asked := map[string]int{}
	for _, set := range p.sets {
		for term := range set {
			asked[term]++
		}
	}
	return func(set termSet) float64 {
		rarest := 0.0
		for term := range set {
			rarity := math.Log(1 + float64(1+len(pages))/float64(1+frequency[term]))
			rarest = max(rarest, rarity/float64(1+asked[term]))
		}
		return rarest
	}
}

// midSentenceCapitals are the words that are written with a capital where the
// grammar does not ask for one.
func midSentenceCapitals(l *lexer, chain []*workv1.ChainLink) termSet {
	found := termSet{}
	for _, link := range chain {
		for _, e := range link.GetExtractions() {
			claim := cut(e.GetClaim(), longestQuote)
			for _, w := range l.words(claim) {
				if nameLike(w) && !opensSentence(claim, w.start) {
					found[w.stem] = struct{}{}
				}
			}
		}
	}
	return found
}

func mostRelevant(chain []*workv1.ChainLink) float64 {
	best := 1e-9
	for _, link := range chain {
		for _, e := range link.GetExtractions() {
			best = max(best, e.GetRelevance())
		}
	}
	return best
}

// byline says whether a name is that of the one who wrote the page.
func byline(claim, name string) bool {
	before, _, found := strings.Cut(claim, name)
	if !found {
		return false
	}
	before = strings.ToLower(strings.TrimSpace(before))
	for _, mark := range []string{"article by", "written by", "posted by", "reported by", "story by", "report by"} {
		if strings.HasSuffix(before, mark) {
			return true
		}
	}
	return false
}
