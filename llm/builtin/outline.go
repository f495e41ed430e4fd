package builtin

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// fewestInSection is what a section of its own needs that the prompt does not name.
	fewestInSection = 2
	mostSections    = 7
	summaryFacts    = 4
	summaryWords    = 70
	// leastApart is the share of the best fact's coverage that a fact needs which
	// belongs to no part of the prompt.
	leastApart = 0.5
	// leastPartly is the same for a fact that has only some words of its part.
	leastPartly = 0.25
	// leastPlaced is the share of the facts that must belong to parts of the prompt
	// before the others are held to that.
	leastPlaced = 0.3
)

// section is a part of the report under one heading.
type section struct {
	heading string
	facts   []*fact
}

// relevant places the facts, and leaves out those that belong to no part of the prompt
// and have too little of the whole of it.
func (s *subject) relevant(facts []*fact) []*fact {
	s.facets = s.askedFacets()
	s.place(facts, s.facets)
	best, placed := 0.0, 0
	for _, f := range facts {
		best = max(best, f.strength())
		if f.facet != nil {
			placed++
		}
	}
	if float64(placed) < leastPlaced*float64(len(facts)) {
		return facts
	}
	var kept []*fact
	for _, f := range facts {
		least := leastApart
		switch {
		case f.facet != nil && f.fit >= 1:
			least = 0
		case f.facet != nil:
			least = leastPartly
		}
		if f.strength() >= least*best && !pointer.MatchString(f.sentence) {
			kept = append(kept, f)
		}
	}
	return kept
}

// strength is how much of the prompt, or of the part of it that fits best, a fact has.
func (f *fact) strength() float64 {
	return max(f.coverage, f.partly/2)
}

// outline parts the facts into sections: by what the prompt names, then by what
// the pages name often, and the rest.
func (s *subject) outline(facts []*fact) []section {
	var sections []section
	groups := map[*facet][]*fact{}
	var others []*fact
	for _, f := range facts {
		if f.facet == nil {
			others = append(others, f)
			continue
		}
		groups[f.facet] = append(groups[f.facet], f)
	}
	for _, c := range s.facets {
		if group := groups[c]; len(group) > 0 && len(sections) < mostSections {
			sections = append(sections, section{heading: c.heading, facts: group})
			delete(groups, c)
		}
	}
	for _, c := range s.facets {
		others = append(others, groups[c]...)
	}
	if len(sections) < 2 {
		return s.outlineByPages(facts)
	}
	if len(others) > 0 {
		sections = append(sections, section{heading: "Further findings", facts: others})
	}
	return sections
}

// outlineByPages is the outline where the prompt does not part the facts: by the
// names that come up often.
func (s *subject) outlineByPages(facts []*fact) []section {
	var facets []*facet
	for _, name := range s.frequent(facts) {
		c := &facet{heading: capitalised(name), terms: s.lex.set(name)}
		if len(c.terms) == 0 || len(name) > longestHeading || repeatsFacet(facets, c) {
			continue
		}
		for _, f := range facts {
			if c.terms.within(f.set) == 1 {
				c.hits++
			}
		}
		if 10*c.hits <= 8*max(len(facts), 5) {
			facets = append(facets, c)
		}
	}
	s.place(facts, facets)
	var sections []section
	placed := map[*fact]bool{}
	for _, c := range facets {
		var group []*fact
		for _, f := range facts {
			if f.facet == c {
				group = append(group, f)
			}
		}
		if len(group) < fewestInSection {
			continue
		}
		for _, f := range group {
			placed[f] = true
		}
		sections = append(sections, section{heading: c.heading, facts: group})
	}
	var others []*fact
	for _, f := range facts {
		if !placed[f] {
			others = append(others, f)
		}
	}
	switch {
	case len(others) == 0:
	case len(sections) == 0:
		sections = append(sections, section{heading: "Findings", facts: others})
	default:
		sections = append(sections, section{heading: "Further findings", facts: others})
	}
	return sections
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

func capitalised(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if word, _, _ := strings.Cut(s, " "); strings.IndexFunc(word, unicode.IsUpper) > 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[size:]
}
