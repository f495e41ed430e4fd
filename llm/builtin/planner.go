package builtin

import (
	"strings"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// tooAlike is the share of common terms from which two queries would find much
// the same pages.
const tooAlike = 0.8

// queryWords bounds a query: search engines cut or dilute longer ones.
const queryWords = 24

// wholeWords bounds the one query that stands for the whole prompt.
const wholeWords = 32

// planner collects queries until it has as many as are wanted, and refuses
// those that are too much like one that exists.
type planner struct {
	subject *subject
	wanted  int
	queries []*workv1.PlannedQuery
	exact   map[string]bool
	sets    []termSet
	// alike is raised when nothing else is left to ask.
	alike float64
	// share is what children may ask; nil for the first level, and when all of it is used up.
	share *share
}

func newPlanner(task *workv1.QueriesTask) *planner {
	p := &planner{
		subject: newSubject(task.GetPrompt(), task.GetClarifications()),
		wanted:  max(int(task.GetN()), 0),
		exact:   map[string]bool{},
		alike:   tooAlike,
	}
	for _, taken := range task.GetTaken() {
		p.know(taken)
	}
	for _, link := range task.GetChain() {
		p.know(link.GetQuery())
	}
	if chain := task.GetChain(); len(chain) > 0 {
		p.share = newShare(chain[len(chain)-1].GetQuery(), task.GetTaken())
	}
	return p
}

func (p *planner) full() bool {
	return len(p.queries) >= p.wanted
}

func (p *planner) know(text string) termSet {
	p.exact[fold(text)] = true
	set := p.subject.lex.set(text)
	p.sets = append(p.sets, set)
	return set
}

// add takes a query, if there is room for it and nothing like it.
func (p *planner) add(text, objective string) bool {
	text = strings.Join(firstWords(strings.ToValidUTF8(text, " "), wholeWords), " ")
	if p.full() || text == "" || p.exact[fold(text)] {
		return false
	}
	set := p.subject.lex.set(text)
	for _, known := range p.sets {
		if set.jaccard(known) >= p.alike {
			return false
		}
	}
	if p.share != nil && !p.share.has(set) {
		return false
	}
	p.know(text)
	p.queries = append(p.queries, &workv1.PlannedQuery{Text: text, Objective: p.withWishes(objective)})
	return true
}

// withWishes lets an objective carry what the person answered.
func (p *planner) withWishes(objective string) string {
	objective = strings.TrimRight(strings.Join(strings.Fields(objective), " "), " .")
	var wishes []string
	length := 0
	for _, wish := range p.subject.wishes {
		answer := shorten(strings.TrimRight(wish.answer, " ."), 80)
		if length += len(answer); length > 240 {
			break
		}
		wishes = append(wishes, answer)
	}
	if !strings.HasSuffix(objective, "?") && !strings.HasSuffix(objective, "…") {
		objective += "."
	}
	if len(wishes) == 0 {
		return objective
	}
	return objective + " Wanted: " + strings.Join(wishes, "; ") + "."
}

// join makes a query out of parts: each word once, within the bound.
func (p *planner) join(parts ...string) string {
	joined := p.subject.lex.keywords(strings.Join(parts, " , "), queryWords)
	if joined == "" {
		return strings.Join(firstWords(strings.Join(parts, " "), queryWords), " ")
	}
	return joined
}

func fold(text string) string {
	return strings.ToLower(strings.Join(strings.Fields(text), " "))
}
