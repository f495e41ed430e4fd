package builtin

import (
	"net/url"
	"regexp"
	"strings"
)

// What a term of a facet counts for by where a fact has it: in its own words, in
// the title and headings above it, or only in the page's address.
const (
	ownShare     = 1.0
	titleShare   = 0.75
	addressShare = 0.55
	// bothBonus is for a term that a fact and its title have.
	bothBonus = 0.2
	// topicFit is for a facet that the fact's page is about.
	topicFit = 0.5
	// leastFit is the share of a facet that a fact must have to stand under it.
	leastFit = 0.5
	// longestHeading bounds a facet's name.
	longestHeading = 60
)

// facet is a part of the report: a heading, with the terms that facts under it have.
type facet struct {
	heading string
	terms   termSet
	hits    int
}

// listGap stands between the items of a list.
var listGap = regexp.MustCompile(`(?i)^(?:,|,? (?:and|or|as well as)|&)\s*(?:the |an? )?$`)

// listed are the items of the lists in a prompt: "consensus, message queues and
// databases".
func (l *lexer) listed(prompt string) []string {
	var found []string
	runs := l.runs(prompt)
	for i := 0; i < len(runs); {
		end := i + 1
		for end < len(runs) && listGap.MatchString(prompt[runs[end-1].end:runs[end].start]) {
			end++
		}
		if end-i > 1 && strings.ContainsAny(prompt[runs[end-2].end:runs[end-1].start], "andor&") {
			for _, run := range runs[i:end] {
				found = append(found, prompt[run.start:run.end])
			}
		}
		i = end
	}
	return found
}

// runs are the places of the telling words of s, those side by side as one.
func (l *lexer) runs(s string) []span {
	var found []span
	ws := l.words(s)
	for i, w := range ws {
		if !l.telling(s, ws, i) {
			continue
		}
		if last := len(found) - 1; last >= 0 && joinsPhrase(s[found[last].end:w.start]) {
			found[last].end = w.end
			continue
		}
		found = append(found, span{w.start, w.end})
	}
	return found
}

// askedFacets are the parts that the prompt itself names: the sides that it
// compares, the items of its lists, its names, and what each clause that has none
// of these is about.
func (s *subject) askedFacets() []*facet {
	var facets []*facet
	outlets := s.lex.set(strings.Join(s.outlets, " . "))
	add := func(heading string) bool {
		heading = strings.TrimSpace(heading)
		terms := newTermSet(s.lex.informative(heading))
		f := &facet{heading: capitalised(heading), terms: terms}
		if len(terms) == 0 || len(terms) > 4 || terms.within(outlets) == 1 || len(heading) > longestHeading || len(heading) < 3 || repeatsFacet(facets, f) || s.lex.vague(terms) {
			return false
		}
		facets = append(facets, f)
		return true
	}
	lists := [][]string{s.sides, s.listedNames(), s.names}
	if len(s.sides) > 1 {
		// What is not compared is what the comparison is about, and all facts have it.
		lists = [][]string{s.sides, s.lex.listed(s.prompt)}
	}
	for _, list := range lists {
		for _, heading := range list {
			add(heading)
		}
	}
	for _, clause := range s.clauses {
		if !named(facets, s.lex.set(clause)) {
			s.clauseFacets(clause, add)
		}
	}
	return facets[:min(len(facets), mostSections)]
}

// listedNames are the items of the prompt's lists, those that begin with a name without
// what is said of it: "Raft and Paxos reach consensus" lists two names.
func (s *subject) listedNames() []string {
	listed := s.lex.listed(s.prompt)
	for i, item := range listed {
		for _, name := range s.names {
			if strings.HasPrefix(item, name+" ") {
				listed[i] = name
			}
		}
	}
	return listed
}

// clauseFacets names what a clause is about: in its own words where they are few,
// else by its topics.
func (s *subject) clauseFacets(clause string, add func(string) bool) {
	topics := tellingTopics(s.lex.phrases(clause, 4))
	if len(topics) == 0 {
		return
	}
	topics = topics[:min(2, len(topics))]
	final := topics[len(topics)-1]
	first := strings.Index(clause, topics[0])
	last := strings.LastIndex(clause, final)
	if len(topics) > 1 && first >= 0 && last >= first {
		whole := clause[first : last+len(final)]
		if len(strings.Fields(whole)) <= 5 && !strings.ContainsAny(whole, ",;:") && add(whole) {
			return
		}
	}
	for _, topic := range topics {
		add(topic)
	}
}

// vague says whether terms are all so frequent that they are no heading.
func (l *lexer) vague(terms termSet) bool {
	heaviest := 0.0
	for term := range terms {
		heaviest = max(heaviest, l.weight(term))
	}
	return heaviest < weightUsual && len(terms) < 2
}

func named(facets []*facet, clause termSet) bool {
	for _, f := range facets {
		if f.terms.within(clause) == 1 {
			return true
		}
	}
	return false
}

func repeatsFacet(facets []*facet, f *facet) bool {
	for _, known := range facets {
		if known.terms.jaccard(f.terms) >= 0.5 {
			return true
		}
	}
	return false
}

// place gives each fact the facet that it fits best, with how well it does.
// What fits many facts says less about one of them.
func (s *subject) place(facts []*fact, facets []*facet) {
	around := make([]*surroundings, len(facts))
	for i, f := range facts {
		around[i] = s.surroundings(f)
	}
	for _, c := range facets {
		c.hits = 0
		for i, f := range facts {
			if c.fit(f, around[i]) >= leastFit {
				c.hits++
			}
		}
	}
	for i, f := range facts {
		f.facet, f.fit = nil, 0
		for _, c := range facets {
			fit := c.fit(f, around[i])
			if fit < leastFit {
				continue
			}
			for _, t := range f.topics {
				if t.terms.within(c.terms) == 1 {
					fit += topicFit
					break
				}
			}
			if fit += 0.3 / float64(1+c.hits); fit > f.fit {
				f.facet, f.fit = c, fit
			}
		}
	}
}

// surroundings are the words around a fact that say what it is about.
type surroundings struct {
	title, address termSet
}

func (s *subject) surroundings(f *fact) *surroundings {
	if f.around != nil {
		return f.around
	}
	around := &surroundings{title: s.lex.set(cut(f.GetTitle(), 400) + " . " + cut(strings.Join(f.GetHeadingPath(), " . "), 400))}
	if at, err := url.Parse(f.GetUrl()); err == nil {
		around.address = s.lex.set(strings.NewReplacer("/", " ", "-", " ", "_", " ", ".", " ").Replace(cut(at.Path, 400)))
	}
	f.around = around
	return around
}

// fit is the share of the facet's terms that a fact has.
func (c *facet) fit(f *fact, around *surroundings) float64 {
	has := 0.0
	for term := range c.terms {
		switch {
		case f.set.has(term) && around.title.has(term):
			has += ownShare + bothBonus
		case f.set.has(term):
			has += ownShare
		case around.title.has(term):
			has += titleShare
		case around.address.has(term):
			has += addressShare
		}
	}
	return has / float64(max(len(c.terms), 1))
}
