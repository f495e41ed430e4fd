package builtin

import (
	"fmt"
	"strings"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// Queries plans exactly task.N distinct queries, each with its objective. Those
// of the first level take one facet of the prompt or a pair of them each;
// children pair a facet that is still open with something that their chain found.
func Queries(task *workv1.QueriesTask) []*workv1.PlannedQuery {
	p := newPlanner(task)
	if len(task.GetChain()) > 0 {
		p.fromFindings(task.GetChain())
	} else {
		p.fromFacets()
	}
	p.fromAspects()
	p.share = nil
	p.fromAspects()
	return p.queries
}

// fromFacets asks for the prompt's own facets, the widest first.
func (p *planner) fromFacets() {
	s := p.subject
	p.add(s.whole(), "Find an answer to: "+shorten(s.prompt, 300))
	for i := range max(len(s.clauses), len(s.sides), len(s.wishes)) {
		if i < len(s.clauses) && len(s.clauses) > 1 {
			p.add(s.lex.keep(s.clauses[i], queryWords, func(string) bool { return true }), "Find what bears on: "+shorten(s.clauses[i], 300))
		}
		if i < len(s.sides) {
			p.side(i)
		}
		if i < len(s.wishes) {
			w := s.wishes[i]
			p.add(p.join(s.core(6), cut(w.answer, 120)),
				fmt.Sprintf("Find what is known of %s with regard to %s", s.label(), shorten(w.answer, 120)))
		}
	}
	p.pairs()
}

// whole is the prompt as a query: what engines take for noise left out, and
// nothing else.
func (s *subject) whole() string {
	return s.lex.keep(s.prompt, wholeWords, func(string) bool { return true })
}

// side asks for one side of a comparison by itself, with what it is compared in.
func (p *planner) side(i int) {
	s := p.subject
	other := s.sides[1-i%2]
	var rest []string
	terms := s.lex.set(strings.Join(s.sides, " "))
	for _, topic := range s.topics {
		if s.lex.set(topic).within(terms) == 0 {
			rest = append(rest, topic)
		}
	}
	about := strings.Join(rest[:min(2, len(rest))], " ")
	p.add(p.join(s.sides[i], about, strings.Join(s.dates[:min(1, len(s.dates))], " ")),
		fmt.Sprintf("Find what is known of %s, to be set against %s", s.sides[i], other))
}

// pairs asks for two facets at once, and for each alone.
func (p *planner) pairs() {
	s := p.subject
	for i, name := range s.names {
		for _, topic := range s.topics[:min(len(s.topics), 4)] {
			p.add(p.join(name, topic), fmt.Sprintf("Find what connects %s and %s", name, topic))
		}
		if i+1 < len(s.names) {
			p.add(p.join(name, s.names[i+1], s.firstTopic()), fmt.Sprintf("Find what connects %s and %s", name, s.names[i+1]))
		}
	}
	for _, date := range s.dates {
		p.add(p.join(s.core(5), date), fmt.Sprintf("Find what happened to %s in the period “%s”", s.label(), date))
	}
	for i, topic := range s.topics {
		if i+1 < len(s.topics) {
			p.add(p.join(topic, s.topics[i+1]), fmt.Sprintf("Find what connects %s and %s", topic, s.topics[i+1]))
		}
	}
	for _, facet := range append(append([]string{}, s.names...), s.topics...) {
		p.add(p.join(facet), "Find basic facts on "+facet)
	}
}

func (s *subject) firstTopic() string {
	if len(s.topics) == 0 {
		return ""
	}
	return s.topics[0]
}

// fromAspects looks at the subject from all sides: one aspect, then two and
// three at once, and at last without regard to likeness, so that there are always
// as many queries as were asked for.
func (p *planner) fromAspects() {
	core := p.subject.core(4)
	label := p.subject.label()
	if p.full() {
		return
	}
	for _, p.alike = range []float64{tooAlike, 0.9, 1.01} {
		for i := range aspects {
			p.aspects(core, label, aspects[i])
		}
		for i := range aspects {
			for _, facet := range p.facetNames() {
				p.aspects(facet, facet, aspects[i])
			}
			if p.full() {
				return
			}
		}
		for i := range aspects {
			for j := i + 1; j < len(aspects) && !p.full(); j++ {
				p.aspects(core, label, aspects[i], aspects[j])
			}
		}
		for i := range aspects {
			for j := i + 1; j < len(aspects); j++ {
				for k := j + 1; k < len(aspects) && !p.full(); k++ {
					p.aspects(core, label, aspects[i], aspects[j], aspects[k])
				}
			}
		}
	}
}

func (p *planner) facetNames() []string {
	s := p.subject
	if len(s.names)+len(s.topics) < 2 {
		return nil
	}
	return append(append([]string{}, s.names[:min(3, len(s.names))]...), s.topics[:min(3, len(s.topics))]...)
}

func (p *planner) aspects(query, label string, chosen ...aspect) {
	if p.full() {
		return
	}
	purposes := make([]string, 0, len(chosen))
	for _, a := range chosen {
		query += " " + a.words
		purposes = append(purposes, fmt.Sprintf(a.purpose, label))
	}
	p.add(query, "Find "+strings.Join(purposes, ", and "))
}
