package builtin

import (
	"regexp"
	"sort"
	"strings"
)

// historyAsked is what a prompt says that wants to know what came when.
var historyAsked = regexp.MustCompile(`(?i)\b(?:histor(?:y|ies|ical|ically)|timelines?|chronolog\w+|evol(?:ution|ved|ve)|origins?)\b`)

// yearBonus is what a fact gets for a year where a history is asked for.
const yearBonus = 0.15

// historyTerms are the terms of text that ask for a history. A sentence that names a year
// has what they ask for.
func (l *lexer) historyTerms(text string) []string {
	if !l.english {
		return nil
	}
	return l.terms(strings.Join(historyAsked.FindAllString(text, -1), " "))
}

// fewestDated is what a timeline needs.
const fewestDated = 3

// history says whether the prompt asks for one.
func (s *subject) history() bool {
	return s.lex.english && historyAsked.MatchString(s.prompt)
}

// timeline takes out the facts that name a year, in the order of these years.
func (s *subject) timeline(facts []*fact) ([]*fact, []*fact) {
	if !s.history() {
		return nil, facts
	}
	var dated, others []*fact
	for _, f := range facts {
		if anyYear.MatchString(f.sentence) && !leansBack(f.sentence) {
			dated = append(dated, f)
		} else {
			others = append(others, f)
		}
	}
	if len(dated) < fewestDated {
		return nil, facts
	}
	sort.SliceStable(dated, func(a, b int) bool {
		return anyYear.FindString(dated[a].sentence) < anyYear.FindString(dated[b].sentence)
	})
	return dated, others
}

// timeline writes facts by the years in them.
func (w *writer) timeline(facts []*fact) {
	if len(facts) == 0 {
		return
	}
	w.told = true
	w.printf("## Timeline\n\n")
	for _, f := range facts {
		w.printed = map[string]bool{}
		w.printf("- *%s* — %s\n", anyYear.FindString(f.sentence), w.cited(f))
	}
	w.printf("\n")
}

var definitionAsked = regexp.MustCompile(`(?i)^(?:what|who) (?:is|are|was|were) |\b(?:definition|meaning) of\b`)

// whatAsked takes out what a prompt wants to be defined before it goes on.
var whatAsked = regexp.MustCompile(`(?i)^(?:what|who) (?:is|are|was|were) ([^,;:?.!]{2,60}?)(?:,? and (?:how|what|why|when|who|where|which)\b|[,;?.!]|$)`)

var pastAsked = regexp.MustCompile(`(?i)^(?:what|who) (?:was|were) `)

// definitionBonus is what a fact gets for saying what the prompt's subject is, where
// that is asked for.
const definitionBonus = 0.25

// defines gives the pattern of a sentence that says what the prompt's subject is, or nil.
func (s *subject) defines() *regexp.Regexp {
	if !s.lex.english || len(strings.Fields(s.prompt)) > 3 && !definitionAsked.MatchString(s.prompt) {
		return nil
	}
	label := s.label()
	if asked := whatAsked.FindStringSubmatch(s.prompt); asked != nil {
		label = asked[1]
	}
	label = strings.TrimSpace(leadingSmall.ReplaceAllString(strings.TrimSpace(label), ""))
	if label == "" || len(label) > 80 {
		return nil
	}
	verbs := `is|are|means|refers to|stands for|denotes`
	if pastAsked.MatchString(s.prompt) {
		verbs += `|was|were`
	}
	name := regexp.QuoteMeta(label)
	return regexp.MustCompile(`(?i)^["“]?(?:(?:the|an?) )?` + name + `s?["”]?(?: \([^()]{1,60}\)|, [^,]{1,80},)? (?:` + verbs + `) (?:an?|the|one|any|\w+ \w+)\b|\b(?:is|are) (?:called |named |known as )?` + name + `(?:,|\.$)`)
}
