package builtin

import (
	"math"
	"sort"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

const (
	// mostCentral is how many sentences a page that is about a theme of the prompt gives
	// beside those that repeat words of the prompt.
	mostCentral = 8
	// leastCentral is the share of the most central sentence's value that another needs.
	leastCentral = 0.5
	// centralRelevance and centralShare make the relevance of such a sentence, which stays
	// below that of one that has the prompt's words.
	centralRelevance = 0.15
	centralShare     = 0.2
	// definitionValue and openingValue are what a sentence gains that says what the theme
	// is, and the first of the page.
	definitionValue = 0.5
	openingValue    = 0.2
	relationValue   = 0.3
)

// central finds what a page about a theme of the prompt says of it without repeating its
// name: the sentences that share most words with the others of the page or section.
func (l *lexer) central(found, chosen []candidate, task *workv1.AnalyzeTask) []candidate {
	if !l.english {
		return nil
	}
	s := newSubject(task.GetPrompt(), nil)
	themes := s.themes()
	pageThemes := l.themed(task.GetTitle(), themes)
	byHeading := map[string][]*theme{}
	about := func(c candidate) []*theme {
		if len(pageThemes) > 0 || len(c.path) == 0 {
			return pageThemes
		}
		heading := c.path[len(c.path)-1]
		known, cached := byHeading[heading]
		if !cached {
			known = sectionThemes(l.themed(heading, themes))
			byHeading[heading] = known
		}
		return known
	}
	frequency := map[string]float64{}
	var topical []int
	for i, c := range found {
		if len(about(c)) == 0 {
			continue
		}
		topical = append(topical, i)
		for term := range c.set {
			frequency[term]++
		}
	}
	if len(topical) < 3 {
		return nil
	}
	relation := s.relation()
	values := map[int]float64{}
	best := 1e-9
	for _, i := range topical {
		values[i] = centrality(found[i].set, frequency)
		best = max(best, values[i])
	}
	var order []int
	for at, i := range topical {
		c := &found[i]
		if c.hanging || !l.declares(c.claim) || l.dangles(c.claim) || values[i] < leastCentral*best || overlapsAny(chosen, c) {
			continue
		}
		values[i] /= best
		c.relevance = max(c.relevance, math.Min(1, centralRelevance+centralShare*values[i]))
		for _, t := range about(*c) {
			if l.defining(c.claim, t) {
				values[i] += definitionValue
				break
			}
		}
		if at == 0 {
			values[i] += openingValue
		}
		if relation != nil && relation.MatchString(c.claim) {
			values[i] += relationValue
		}
		order = append(order, i)
	}
	sort.SliceStable(order, func(a, b int) bool { return values[order[a]] > values[order[b]] })
	order = withoutFurniture(found, order)
	if len(order) == 0 {
		return nil
	}
	top := values[order[0]]
	var added []candidate
	for _, i := range marginal(len(order), mostCentral,
		func(i int) float64 { return values[order[i]] / top },
		func(i, j int) float64 { return overlap(&found[order[i]], &found[order[j]]) }) {
		if c := found[order[i]]; !overlapsAny(added, &c) {
			added = append(added, c)
		}
	}
	return added
}

// centrality is how much a text says that the others say too.
func centrality(set termSet, frequency map[string]float64) float64 {
	if len(set) == 0 {
		return 0
	}
	terms := make([]float64, 0, len(set))
	for term := range set {
		terms = append(terms, frequency[term])
	}
	sort.Float64s(terms)
	sum := 0.0
	for _, n := range terms {
		sum += n
	}
	return sum / math.Sqrt(float64(len(set)))
}
