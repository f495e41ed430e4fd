package builtin

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// fewestInSection is what a section of its own needs.
	fewestInSection = 2
	mostSections    = 6
	summaryFacts    = 4
	summaryWords    = 45
)

// section is a part of the report under one heading.
type section struct {
	heading string
	facts   []*fact
}

// facet of a report: a heading, with the terms that a sentence under it has.
type reportFacet struct {
	heading string
	terms   termSet
	hits    int
}

// summarise takes the few best facts out, from different pages where it can.
func summarise(picked []*fact) ([]*fact, []*fact) {
	var summary, body []*fact
	order := append([]*fact{}, picked...)
	sort.SliceStable(order, func(a, b int) bool { return order[a].score > order[b].score })
	most := min(summaryFacts, (len(picked)+2)/3)
	strongest := 0.0
	for _, f := range picked {
		strongest = max(strongest, f.coverage)
	}
	taken := map[*fact]bool{}
	seen := map[string]bool{}
	for _, f := range order {
		if len(summary) < most && !seen[f.GetUrl()] && len(strings.Fields(f.sentence)) <= summaryWords &&
			(len(summary) == 0 || max(f.coverage, f.partly/2) >= strongest/2) && !howItWasDone.MatchString(f.sentence) {
			seen[f.GetUrl()] = true
			taken[f] = true
			summary = append(summary, f)
		}
	}
	for _, f := range picked {
		if !taken[f] {
			body = append(body, f)
		}
	}
	return summary, body
}

// outline parts the facts into sections: by what the prompt names, then by what
// the pages name often, and the rest.
func (s *subject) outline(facts []*fact) []section {
	facets := s.reportFacets(facts)
	rest := append([]*fact{}, facts...)
	groups := map[string][]*fact{}
	for _, f := range facts {
		if facet := bestFacet(facets, s.context(f), f); facet != nil {
			groups[facet.heading] = append(groups[facet.heading], f)
		}
	}
	var sections []section
	placed := map[*fact]bool{}
	for _, facet := range facets {
		group := groups[facet.heading]
		if len(group) < fewestInSection || len(sections) == mostSections {
			continue
		}
		for _, f := range group {
			placed[f] = true
		}
		sections = append(sections, section{heading: facet.heading, facts: group})
	}
	var others []*fact
	for _, f := range rest {
		if !placed[f] {
			others = append(others, f)
		}
	}
	if len(others) > 0 {
		heading := "Further findings"
		if len(sections) == 0 {
			heading = "Findings"
		}
		sections = append(sections, section{heading: heading, facts: others})
	}
	return sections
}

// context is what a fact is about: its own words, and those of its page's title.
func (s *subject) context(f *fact) termSet {
	return s.lex.set(f.GetTitle() + " " + strings.Join(f.GetHeadingPath(), " "))
}

// reportFacets are possible headings: those of the prompt that do not fit nearly
// every sentence, and names that come up often.
func (s *subject) reportFacets(facts []*fact) []*reportFacet {
	var headings []string
	headings = append(headings, s.sides...)
	headings = append(headings, s.names...)
	for _, topic := range s.topics {
		if strings.Contains(topic, " ") || len(s.names) == 0 {
			headings = append(headings, topic)
		}
	}
	headings = append(headings, s.frequent(facts)...)
	var facets []*reportFacet
	for _, heading := range distinctFold(headings) {
		facet := &reportFacet{heading: capitalised(heading), terms: s.lex.set(heading)}
		if len(facet.terms) == 0 || len(heading) > 60 || repeatsFacet(facets, facet) {
			continue
		}
		for _, f := range facts {
			if facet.terms.within(f.set) == 1 {
				facet.hits++
			}
		}
		if facet.hits >= fewestInSection && 10*facet.hits <= 8*max(len(facts), 5) {
			facets = append(facets, facet)
		}
	}
	return facets
}

func repeatsFacet(facets []*reportFacet, facet *reportFacet) bool {
	for _, known := range facets {
		if known.terms.jaccard(facet.terms) >= 0.5 {
			return true
		}
	}
	return false
}

// frequent are the names that at least three facts of at least two pages have.
func (s *subject) frequent(facts []*fact) []string {
	type count struct {
		name  string
		facts int
		pages map[string]bool
	}
	inside := termSet{}
	for _, f := range facts {
		for _, w := range s.lex.words(f.sentence) {
			if nameLike(w) && !opensSentence(f.sentence, w.start) {
				inside[w.stem] = struct{}{}
			}
		}
	}
	known := map[string]*count{}
	var all []*count
	for _, f := range facts {
		for _, name := range s.lex.names(f.sentence, inside.has) {
			if byline(f.sentence, name) || fromOutlet(f.GetUrl(), []string{name}) || contains(s.outlets, name) {
				continue
			}
			key := fold(name)
			if known[key] == nil {
				known[key] = &count{name: name, pages: map[string]bool{}}
				all = append(all, known[key])
			}
			known[key].facts++
			known[key].pages[f.GetUrl()] = true
		}
	}
	sort.SliceStable(all, func(a, b int) bool { return all[a].facts > all[b].facts })
	var names []string
	for _, c := range all {
		if len(c.name) > 3 && c.facts >= 3 && len(c.pages) >= 2 && len(names) < mostSections {
			names = append(names, c.name)
		}
	}
	return names
}

// bestFacet is the rarest heading that fits a fact: the more sentences a heading
// fits, the less it says about one of them.
func bestFacet(facets []*reportFacet, context termSet, f *fact) *reportFacet {
	var best *reportFacet
	bestValue := 0.0
	for _, facet := range facets {
		value := 0.0
		switch {
		case facet.terms.within(f.set) == 1:
			value = 2
		case facet.terms.within(context) == 1:
			value = 1
		default:
			continue
		}
		value += 1 / float64(1+facet.hits)
		if value > bestValue {
			best, bestValue = facet, value
		}
	}
	return best
}

func capitalised(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if word, _, _ := strings.Cut(s, " "); strings.IndexFunc(word, unicode.IsUpper) > 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[size:]
}
