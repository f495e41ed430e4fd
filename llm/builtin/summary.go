package builtin

import (
	"regexp"
	"sort"
	"strings"
)

// summarise takes the few best facts out: one for each part of the prompt first,
// from different pages where it can.
func (s *subject) summarise(picked []*fact) ([]*fact, []*fact) {
	order := append([]*fact{}, picked...)
	sort.SliceStable(order, func(a, b int) bool { return order[a].score > order[b].score })
	strongest := 0.0
	for _, f := range picked {
		strongest = max(strongest, f.coverage)
	}
	taken := map[*fact]bool{}
	pages := map[string]int{}
	most := func(*fact) int { return 1 }
	var summary []*fact
	take := func(limit int, fits func(*fact) bool) {
		for _, f := range order {
			if len(summary) >= limit {
				return
			}
			if taken[f] || pages[f.GetUrl()] >= most(f) || len(strings.Fields(f.sentence)) > summaryWords || !s.lex.declares(f.sentence) || !fits(f) {
				continue
			}
			taken[f] = true
			pages[f.GetUrl()]++
			summary = append(summary, f)
		}
	}
	room := (len(picked) + 2) / 3
	if definition := s.defines(); definition != nil {
		take(min(1, room), func(f *fact) bool { return definition.MatchString(f.sentence) })
	}
	for _, c := range s.facets {
		before := len(summary)
		take(min(before+1, room), func(f *fact) bool { return f.facet == c && f.states })
		take(min(before+1, room), func(f *fact) bool { return f.facet == c && len(f.topics) > 0 && s.speaksOf(f, c) })
		take(min(before+1, room), func(f *fact) bool { return f.facet == c && s.speaksOf(f, c) })
		take(min(before+1, room), func(f *fact) bool { return f.facet == c })
	}
	parted := len(summary) > 1
	take(min(summaryFacts, room), func(f *fact) bool {
		if s.led && len(f.topics) == 0 {
			return len(summary) == 0
		}
		return len(summary) == 0 || f.strength() >= strongest/2 && (!parted || f.facet != nil)
	})
	// What leads may have a single page, which then says more than one thing.
	most = func(f *fact) int { return 1 + min(1, len(f.topics)) }
	take(min(summaryFacts, room), func(f *fact) bool { return s.opensWithTopic(f) })
	var body []*fact
	for _, f := range picked {
		if !taken[f] {
			body = append(body, f)
		}
	}
	return summary, body
}

// subjectBytes is how far into a sentence its subject stands.
const subjectBytes = 60

// speaksOf says whether a facet is what a fact is about, and not only named in it: its
// page's title has it, or the sentence begins with it.
func (s *subject) speaksOf(f *fact, c *facet) bool {
	return c.terms.within(s.lex.set(cut(f.GetTitle(), 400))) == 1 || c.terms.within(s.lex.set(cut(f.sentence, subjectBytes))) == 1
}

var (
	// caption opens what is a link's or a picture's text more often than a statement.
	caption = regexp.MustCompile(`^(?:How|Why|Whether|Which|Who|Whose|What (?:\w+ )?(?:the|a|an|it|they|he|she|we|you)\b|See|Note|Note that|Here|Let|Consider|Read|Learn|Figure|Table|Fig\.)\b`)
	// pointer only sends the reader elsewhere.
	pointer = regexp.MustCompile(`^(?:(?:Please )?(?:[Ss]ee|[Rr]efer to) (?:also )?[^.]{3,120}\.$|See also\b|There (?:is|are) (?:a |an )?(?:longer|more|another) (?:text|article|page|about|on)s?\b|For [^.]{3,120},? (?:please )?(?:see|refer to) |(?:More|Additional|Further|Detailed) (?:information|details|documentation|examples|discussion)\b.{0,120}\b(?:in|at|on|by|under) |(?:The (?:next|following|previous|preceding) (?:section|chapter|sections|page|table|example|list|figure)s?|This (?:section|chapter|appendix|table|list|page))\b)|\b(?:is|are) (?:further )?(?:summed up|treated|dealt with|summari[sz]ed|described|listed|discussed|explained|covered|documented|shown|given|defined|outlined)(?: (?:in (?:more )?detail|separately|fully))? (?:in|at|by|under) (?:the |its |their )?(?:\w+ ){0,4}(?:[Ss]ection|[Cc]hapter|[Tt]able|[Aa]ppendix|[Ff]igure|page|text|article|document|above|below)\b`)
	// outside needs what is not quoted: an answer to a question, a section above.
	outside = regexp.MustCompile(`(?i)\b(?:the answer|(?:as|see|shown|listed|described|given|mentioned|discussed|explained|defined) (?:above|below|earlier|later|here)|above-mentioned|the (?:above|latter|former)|the other (?:half|ones?)|the (?:following|preceding)|the same arithmetic|in this (?:section|chapter|case|example|approach|context)|this (?:is why|approach|parameter|option|setting|value))\b|; see [a-z ]+\.$|:$`)
	// orders is an order to the reader about what went before.
	leansOn = regexp.MustCompile(`^\w+ (?:that|this|these|those|it|them)\b`)
	orders  = regexp.MustCompile(`^(?:Compare|Contrast|Think|Imagine|Suppose|Remember|Recall|Try|Take|Look|Ask)\b`)
)

var statingVerbs = wordSet(`is are was were has have had does do did can could will would may might must should cannot
needs need takes took keeps kept gives gave makes made becomes became includes means uses lets runs holds writes
reads sends costs allows shows showed says said finds found leads led stands rests depends remains provides requires
works begins began returns stores adds waits goes went came comes gets got lost won rose fell grew
cost ran saw wrote built sold bought paid met held sent spent brought chose drove broke stood beat set put cut hit shut`)

// declares says whether a sentence reads as a statement that needs nothing before
// it. Outside English that can't be told, and each sentence is taken for one.
func (l *lexer) declares(sentence string) bool {
	if !l.english {
		return true
	}
	if caption.MatchString(sentence) || outside.MatchString(sentence) || leansBack(sentence) ||
		howItWasDone.MatchString(sentence) || orders.MatchString(sentence) || strings.Contains(sentence, "?") {
		return false
	}
	return !l.fragment(sentence)
}

// fragment says whether a sentence has no verb that states something.
func (l *lexer) fragment(sentence string) bool {
	if !l.english {
		return false
	}
	for i, field := range strings.Fields(strings.ToLower(sentence)) {
		field = strings.Trim(field, ".,;:()\"'“”’")
		if i > 0 && (statingVerbs.has(field) || len(field) > 4 && strings.HasSuffix(field, "ed")) {
			return false
		}
	}
	return true
}
