package builtin

import (
	"sort"
	"strings"
)

// What a fact's place in the report depends on. The proportions come out of a
// logistic regression over facts of pages that are known to hold an answer or not.
const (
	promptShare    = 0.4
	relevanceBonus = 0.5
	supportShare   = 0.05
	outletBonus    = 0.2
	// leaningShare is what a fact keeps of its score when it needs what is not quoted.
	leaningShare = 0.9
)

const (
	// leastScore of the best fact is what a fact needs to be shown.
	leastScore = 0.42
	// leastCoverage is the share of the prompt, weighed by rarity, that a fact must
	// have. It is what keeps a report short when nothing was found.
	leastCoverage = 0.08
	// leastOfBest is the same as a share of what the best fact has.
	leastOfBest = 0.22
	// mostPerSource keeps one page from being the whole report.
	mostPerSource = 5
	// mostPerTopic is the same for a page about what leads.
	mostPerTopic = 9
	// sameSource is how much alike two facts are held for coming from one page.
	sameSource = 0.3
	// fewestFacts is how many facts a report has before the weaker ones are left out.
	fewestFacts = 5
	// mostMarks is how many sources one sentence cites at most.
	mostMarks = 4
	// mostRanked bounds the facts that are weighed against each other.
	mostRanked = 400
)

// rank scores the facts against the prompt. Rarity is taken over the whole
// research here, which no single page can tell.
func (s *subject) rank(facts []*fact) {
	query := s.asked()
	sets := make([]termSet, len(facts))
	lengths := make([]int, len(facts))
	for i, f := range facts {
		sets[i], lengths[i] = f.set, len(f.terms)
	}
	index := newBM25(sets, lengths)
	parts := s.askedParts(query)
	history := s.lex.historyTerms(s.prompt)
	s.lead(facts)
	best := 0.0
	for i, f := range facts {
		title := s.lex.set(f.GetTitle() + " " + strings.Join(f.GetHeadingPath(), " "))
		own := map[string]float64{}
		for _, term := range f.terms {
			own[term]++
		}
		if len(history) > 0 && anyYear.MatchString(f.sentence) {
			for _, term := range history {
				own[term]++
			}
		}
		count := func(term string) float64 {
			if f.ofTopic(term) {
				return own[term] + topicCount
			}
			if title.has(term) {
				return own[term] + titleCount
			}
			return own[term]
		}
		f.score = index.score(query, count, lengths[i])
		f.coverage = covered(query, index, count)
		f.partly = 0
		for _, part := range parts {
			f.partly = max(f.partly, covered(part, index, count))
		}
		best = max(best, f.score)
	}
	for _, f := range facts {
		if best > 0 {
			f.score *= promptShare / best
		}
		f.score += relevanceBonus * f.GetRelevance()
		f.score += supportShare * min(1, float64(len(urls(f))-1)/3)
		if fromOutlet(f.GetUrl(), s.outlets) {
			f.score += outletBonus
		}
		if s.lex.english && (leansBack(f.sentence) || outside.MatchString(f.sentence) || orders.MatchString(f.sentence)) {
			f.score *= leaningShare
		}
	}
	s.prefer(facts)
	sort.SliceStable(facts, func(a, b int) bool { return facts[a].score > facts[b].score })
}

// prefer lets facts gain that have the form that the prompt asks for.
func (s *subject) prefer(facts []*fact) {
	definition, history, relation := s.defines(), s.history(), s.relation()
	for _, f := range facts {
		f.bonus = 0
		if len(f.topics) > 0 {
			f.bonus = topicBonus + centralBonus*f.central
		}
		if (len(f.topics) > 0 || f.led) && relation != nil && relation.MatchString(f.sentence) {
			f.bonus += relationBonus
		}
		if f.states = s.states(f); f.states {
			f.bonus += statesBonus
		}
		f.score += f.bonus
		if definition != nil && definition.MatchString(f.sentence) {
			f.score += definitionBonus
			f.coverage = max(f.coverage, 0.5)
		}
		if history && anyYear.MatchString(f.sentence) {
			f.score += yearBonus
		}
	}
}

// covered is the share of a query, weighed by rarity, that a text has.
func covered(query *weights, index *bm25, count func(string) float64) float64 {
	has, total := 0.0, 0.0
	for _, term := range query.terms {
		weight := query.of[term] * index.rarity(term)
		total += weight
		has += weight * min(1, count(term))
	}
	if total == 0 {
		return 0
	}
	return has / total
}

// askedParts are the clauses of the prompt as queries of their own, with the
// weights that their terms have in the whole.
func (s *subject) askedParts(query *weights) []*weights {
	if len(s.clauses) < 2 {
		return nil
	}
	var parts []*weights
	for _, clause := range s.clauses {
		part := &weights{}
		for _, term := range s.lex.informative(clause) {
			if query.of[term] > 0 {
				part.add([]string{term}, query.of[term])
			}
		}
		if len(part.terms) > 1 {
			parts = append(parts, part)
		}
	}
	return parts
}

// asked weighs the terms of the prompt: names more, where it says that something
// was reported not at all.
func (s *subject) asked() *weights {
	query := &weights{}
	outlets := s.lex.set(strings.Join(s.outlets, " . "))
	var terms []string
	for _, term := range s.lex.informative(s.prompt) {
		if !outlets.has(term) {
			terms = append(terms, term)
		}
	}
	query.add(terms, 1)
	for _, name := range s.names {
		query.add(s.lex.terms(name), nameBonus)
	}
	for _, wish := range s.wishes {
		query.add(s.lex.informative(wish.answer), 0.4)
	}
	return query
}

// urls are the distinct pages that a fact stands on, its own first.
func urls(f *fact) []string {
	var found []string
	seen := map[string]bool{}
	for _, e := range f.support {
		if !seen[e.GetUrl()] {
			seen[e.GetUrl()] = true
			found = append(found, e.GetUrl())
		}
	}
	return found
}

// picker chooses the facts that a report shows within its bounds.
type picker struct {
	words, sources int
	cited          map[string]bool
}

func newPicker(words, sources int) *picker {
	return &picker{words: words, sources: sources, cited: map[string]bool{}}
}

// pick takes the facts in order of maximal marginal relevance while there is
// room. The sources of those it takes are the sources of the report. When few pass,
// the nearest of the others follow: a page that answers rarely repeats the question.
func (p *picker) pick(facts []*fact) []*fact {
	facts = facts[:min(len(facts), mostRanked)]
	if len(facts) == 0 {
		return nil
	}
	best, bar, strongest := facts[0].score, 0.0, 0.0
	for _, f := range facts {
		bar = max(bar, f.score-f.bonus)
		strongest = max(strongest, f.coverage)
	}
	order := marginal(len(facts), len(facts),
		func(i int) float64 { return facts[i].score / max(best, 1e-9) },
		func(i, j int) float64 {
			alike := facts[i].set.jaccard(facts[j].set)
			if facts[i].GetUrl() == facts[j].GetUrl() && len(facts[i].topics) == 0 {
				alike += sameSource
			}
			return alike
		})
	var picked []*fact
	words := 0
	per := map[string]int{}
	taken := map[*fact]bool{}
	take := func(most int, share float64) {
		for _, i := range order {
			f := facts[i]
			size := len(strings.Fields(f.sentence)) + 2
			least := max(leastCoverage, share*leastOfBest*strongest)
			if len(picked) >= most || taken[f] || f.score < share*leastScore*bar || !f.led && max(f.coverage, f.partly/2) < least ||
				per[f.GetUrl()] >= f.mostOfPage() || words+size > p.words || !p.cited[f.GetUrl()] && len(p.cited) >= p.sources {
				continue
			}
			taken[f], p.cited[f.GetUrl()] = true, true
			per[f.GetUrl()]++
			words += size
			picked = append(picked, f)
		}
	}
	take(len(facts), 1)
	take(fewestFacts, 0.5)
	p.others(picked)
	return picked
}

// mostOfPage is how many facts of its page a report takes.
func (f *fact) mostOfPage() int {
	if len(f.topics) > 0 {
		return mostPerTopic
	}
	return mostPerSource
}

// others lets the pages that say the same be cited too, while there is room.
func (p *picker) others(picked []*fact) {
	for _, f := range picked {
		for _, url := range urls(f)[:min(mostMarks, len(urls(f)))] {
			if len(p.cited) < p.sources {
				p.cited[url] = true
			}
		}
	}
}
