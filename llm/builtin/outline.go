package builtin

import (
	"regexp"
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
	bears, definition, points := s.bears(), s.defines(), pointers(facts)
	s.place(facts, s.facets)
	best, placed := 0.0, 0
	for _, f := range facts {
		best = max(best, f.strength())
		if f.facet != nil {
			placed++
		}
	}
	apartIsLess := float64(placed) >= leastPlaced*float64(len(facts))
	var kept, apart []*fact
	for _, f := range facts {
		if definition != nil && definition.MatchString(f.sentence) {
			kept = append(kept, f)
			continue
		}
		if s.lex.english && (s.lex.dangles(f.sentence) || points(f)) || !bears(f) {
			continue
		}
		least := leastApart
		switch {
		case !apartIsLess || f.led || f.facet != nil && f.fit >= 1:
			least = 0
		case f.facet != nil:
			least = leastPartly
		}
		if f.strength() >= least*best {
			kept = append(kept, f)
		} else if f.strength() >= least*best/2 {
			apart = append(apart, f)
		}
	}
	if !s.led && s.short() {
		kept = withoutStrays(kept)
	}
	return append(kept, apart[:min(len(apart), max(0, fewestFacts-len(kept)))]...)
}

const (
	// strayPage is the share of what the best page has of the prompt, over all its facts,
	// below which a page is a stranger, and strayFact what keeps a fact of one.
	strayPage = 0.18
	strayFact = 0.6
)

// withoutStrays leaves out the pages that touch the prompt once and in passing.
func withoutStrays(facts []*fact) []*fact {
	sums := map[string]float64{}
	best, strongest := 0.0, 0.0
	for _, f := range facts {
		sums[f.GetUrl()] += f.strength()
		best = max(best, sums[f.GetUrl()])
		strongest = max(strongest, f.strength())
	}
	var kept []*fact
	for _, f := range facts {
		if sums[f.GetUrl()] >= strayPage*best || f.strength() >= strayFact*strongest || len(f.support) > 1 {
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
// titles of the pages that have several of them.
func (s *subject) outlineByPages(facts []*fact) []section {
	if len(facts) == 0 {
		return nil
	}
	whole := []section{{heading: "Findings", facts: facts}}
	if s.inTime() {
		return whole
	}
	var sections []section
	var others []*fact
	index := map[string]int{}
	for _, group := range byPage(facts) {
		heading := pageHeading(group[0].GetTitle())
		at, known := index[fold(heading)]
		switch {
		case known:
			sections[at].facts = append(sections[at].facts, group...)
		case heading == "" || len(group) < fewestInSection || len(sections) >= mostSections:
			others = append(others, group...)
		default:
			index[fold(heading)] = len(sections)
			sections = append(sections, section{heading: heading, facts: group})
		}
	}
	if len(sections) < 2 {
		return whole
	}
	if len(others) > 0 {
		sections = append(sections, section{heading: "Further findings", facts: others})
	}
	return sections
}

var (
	// numbering opens the titles of a manual's chapters.
	numbering = regexp.MustCompile(`^(?:(?:Chapter|Section|Part|Appendix) )?(?:\d+(?:\.\d+)*|[A-Z]\.\d+(?:\.\d+)*|[IVX]+)[.:)]\s+`)
	// siteName ends the titles of many sites' pages.
	siteName = regexp.MustCompile(`\s+(?:\||–|—|-|::|»)\s+[^|–—»]{2,30}$`)
	fileName = regexp.MustCompile(`^\S+\.\w{2,5}$`)
)

// longestPageHeading bounds a page's title that is to be a heading.
const longestPageHeading = 90

// pageHeading is a page's title as a heading, or nothing where it does for none.
func pageHeading(title string) string {
	title = strings.Join(strings.Fields(strings.ToValidUTF8(title, "")), " ")
	if len(title) > longestPageHeading/2 {
		title = siteName.ReplaceAllString(title, "")
	}
	title = bareTitle(numbering.ReplaceAllString(title, ""))
	if len(title) > longestPageHeading || len(title) < 3 || fileName.MatchString(title) {
		return ""
	}
	return title
}

func capitalised(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if word, _, _ := strings.Cut(s, " "); strings.IndexFunc(word, unicode.IsUpper) > 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[size:]
}
