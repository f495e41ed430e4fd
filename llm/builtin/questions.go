package builtin

import (
	"fmt"
	"regexp"
	"strings"
)

// Questions asks exactly n distinct questions about what the prompt leaves open,
// those first whose answers narrow the research most.
func Questions(prompt string, n int) []string {
	a := &asker{subject: newSubject(prompt, nil), wanted: max(n, 0), seen: map[string]bool{}}
	a.sides()
	a.period()
	a.field()
	a.scope()
	a.facets()
	a.form()
	a.rest()
	return a.questions
}

// asker collects questions until it has as many as are wanted.
type asker struct {
	subject   *subject
	wanted    int
	questions []string
	seen      map[string]bool
	anywhere  bool
}

func (a *asker) ask(format string, args ...any) {
	question := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
	if len(a.questions) < a.wanted && !a.seen[fold(question)] {
		a.seen[fold(question)] = true
		a.questions = append(a.questions, question)
	}
}

func (a *asker) sides() {
	s := a.subject
	if len(s.sides) < 2 {
		return
	}
	a.ask("By which criteria should %s and %s be compared, and which of them matters most to you?", s.sides[0], s.sides[1])
	a.ask("Do you want a recommendation between %s and %s, or only the evidence for each?", s.sides[0], s.sides[1])
}

func (a *asker) period() {
	s := a.subject
	if len(s.dates) == 0 {
		a.ask("Which period should the research on %s cover: only the latest state, or also how it came about, and since when?", s.label())
		return
	}
	a.ask("You name %s: should what came before and after it be covered too, as far as it bears on %s?", s.dates[0], s.label())
}

var (
	regionNamed = regexp.MustCompile(`(?i)\b(?:worldwide|global(?:ly)?|international(?:ly)?|europe(?:an)?|africa[n]?|asia[n]?|america[n]?|u\.?s\.?a?|u\.?k\.?|eu|united states|united kingdom|china|chinese|india[n]?|germany|france|japan|canada|australia|brazil|russia|countr(?:y|ies)|cit(?:y|ies)|region)\b`)
	fields      = []struct {
		pattern *regexp.Regexp
		// anywhere is set where it hardly matters which country it is about.
		anywhere  bool
		questions []string
	}{
		{pattern: regexp.MustCompile(`(?i)\b(?:patients?|disease|cancer|drug|therap\w+|treatment|clinical|vaccin\w+|symptom\w*|medic\w+|health|infection|cells?|biomaterials?|protein|genes?|genetic|diabetes|blood|tumou?r|mice|rats?)\b`), anywhere: true, questions: []string{
			"Which people or populations should the evidence on %s apply to (age, condition, setting), or should laboratory and animal studies count as well?",
			"What kind of evidence do you require for %s: randomised trials and reviews only, or also observational studies and case reports?",
		}},
		{pattern: regexp.MustCompile(`(?i)\b(?:software|programming|code|api|database|server|cloud|kubernetes|python|java|golang|linux|algorithm|framework|library|open[- ]source|machine learning|artificial intelligence|ai|model)\b`), anywhere: true, questions: []string{
			"In which environment does %s have to work for you (language, platform, scale, licence)?",
			"Which figures about %s would decide the matter for you: speed, cost, reliability, security, or effort to run it?",
		}},
		{pattern: regexp.MustCompile(`(?i)\b(?:law|legal|court|lawsuit|trial|rights?|regulat\w+|contract|liab\w+|statute|antitrust|crime|criminal|patent|tax)\b`), questions: []string{
			"Under which jurisdiction's law should %s be looked at?",
			"Should the research on %s rest on statutes and court documents, or on reporting and commentary as well?",
		}},
		{pattern: regexp.MustCompile(`(?i)\b(?:market|stock|price|econom\w+|inflation|invest\w+|bank\w*|revenue|profit|business|compan(?:y|ies)|industr\w+|trade|currency|crypto\w*|sales)\b`), questions: []string{
			"Which figures on %s matter to you (prices, revenue, shares of the market, growth), and in which currency or unit?",
			"Are you looking at %s as an investor, a customer, a competitor, or out of general interest?",
		}},
		{pattern: regexp.MustCompile(`(?i)\b(?:game|match|season|league|team|player|coach|score|championship|tournament|cup)\b`), questions: []string{
			"Which season or competition do you have in mind for %s?",
			"Do you want results and figures on %s, or also reports and opinions?",
		}},
		{pattern: regexp.MustCompile(`(?i)\b(?:film|movie|book|novel|album|song|series|actor|director|author|artist|painting|band)\b`), questions: []string{
			"Are you interested in how %s was made, what it contains, or how it was received?",
			"Which edition, version or release do you have in mind for %s?",
		}},
		{pattern: regexp.MustCompile(`(?i)\b(?:build\w*|bridge|engine\w*|construction|material\w*|steel|concrete|energy|battery|solar|wind|nuclear|vehicle\w*)\b`), questions: []string{
			"Which size, load or operating conditions should be assumed for %s?",
			"Which standards or codes have to be met for %s?",
		}},
		{pattern: regexp.MustCompile(`(?i)\b(?:school|student\w*|teach\w*|education|universit\w+|learning|children)\b`), questions: []string{
			"Which age group or level of education should the research on %s be about?",
		}},
	}
)

// field asks what only matters in the prompt's own field of knowledge.
func (a *asker) field() {
	for _, field := range fields {
		if !field.pattern.MatchString(a.subject.prompt) {
			continue
		}
		for _, question := range field.questions {
			a.ask(question, a.subject.label())
		}
		a.anywhere = field.anywhere
		return
	}
}

func (a *asker) scope() {
	s := a.subject
	if !a.anywhere {
		a.region()
	}
	a.ask("What kind of sources do you trust most on %s: scientific papers, official documents and data, news, or first-hand accounts?", s.label())
	a.ask("What will you use the answer on %s for, and what do you have to decide with it?", s.label())
}

// facets asks about each name, topic and part of the prompt by itself.
func (a *asker) facets() {
	s := a.subject
	if len(s.clauses) > 1 {
		a.ask("Your prompt asks for several things; should “%s” weigh as much as “%s”?", shorten(s.clauses[1], 90), shorten(s.clauses[0], 90))
	}
	for i, name := range s.names {
		if i == 4 {
			break
		}
		a.ask("What about %s is most important to you, and what do you know already?", name)
	}
	for i, topic := range s.topics {
		if i == 3 {
			break
		}
		a.ask("How narrowly should “%s” be understood: in its strict sense, or with everything that is related to it?", topic)
	}
	if len(s.names) > 1 {
		a.ask("Is it the relation between %s and %s that matters to you, or each of them by itself?", s.names[0], s.names[1])
	}
}

func (a *asker) region() {
	s := a.subject
	if !regionNamed.MatchString(s.prompt) {
		a.ask("Which countries or regions should the research on %s cover, or should it be worldwide?", s.label())
	} else {
		a.ask("Should the findings on %s be set beside those from other regions, or stay with the place you name?", s.label())
	}
}

func (a *asker) form() {
	s := a.subject
	a.ask("For whom is the report on %s meant: specialists, decision makers, or readers new to it?", s.label())
	a.ask("Should the report on %s weigh opposing views against each other, or state the best supported one?", s.label())
	if len(s.sides) < 2 {
		a.ask("Should %s be compared with something similar, and if so with what?", s.label())
	}
	if a.anywhere {
		a.region()
	}
	a.ask("Is there anything about %s that you want left out?", s.label())
	a.ask("Which figures or dates on %s do you need in any case?", s.label())
	a.ask("Do you expect a certain answer on %s that the research should try to refute?", s.label())
}

// rest goes on with the sides from which the subject can be looked at.
func (a *asker) rest() {
	for _, aspect := range aspects {
		if len(a.questions) >= a.wanted {
			return
		}
		a.ask("On %s, should %s be covered in depth, in brief, or not at all?", a.subject.label(), aspect.matter)
	}
	for _, first := range aspects {
		for _, second := range aspects {
			if first.words != second.words {
				a.ask("On %s, which matters more to you: %s or %s?", a.subject.label(), first.matter, second.matter)
			}
		}
	}
}
