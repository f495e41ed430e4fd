package builtin

import (
	"regexp"
	"sort"
	"strings"
	"time"
)

// leastDated is the share of a section's facts that must name a year before the
// section is told in order of time though the prompt does not ask for it.
const leastDated = 0.6

// timeAsked is what a prompt says that asks for an order in time.
var timeAsked = regexp.MustCompile(`(?i)\b(?:when (?:did|was|were|is|will|does|has|have)|histor\w+|timelines?|chronolog\w+|sequence|over (?:time|the years)|evol(?:ution|ved|ve)|earlier|later|first reported|(?:between|before|after|since|from) .{0,60}?\d{4})\b`)

// inTime says whether the prompt asks for an order in time.
func (s *subject) inTime() bool {
	return len(s.dates) > 0 || s.lex.english && timeAsked.MatchString(s.prompt)
}

// section writes its facts, those of one page as a paragraph. Where an order in
// time is asked for, each is an item with the date of its page.
func (w *writer) section(s section) {
	w.printf("## %s\n\n", escape(s.heading))
	groups := byPage(s.facts)
	dated := false
	switch {
	case w.told:
	case w.subject.inTime():
		dated = byDate(groups)
	case namesYears(s.facts):
		sort.SliceStable(groups, func(a, b int) bool { return year(groups[a]) < year(groups[b]) })
	}
	for _, group := range groups {
		w.printed = map[string]bool{}
		parts := make([]string, 0, len(group))
		for _, f := range group {
			if text := w.cited(f); text != "" {
				parts = append(parts, text)
			}
		}
		text := strings.Join(parts, " ")
		if dated {
			w.printf("- *%s* — %s\n", group[0].published().Format(time.DateOnly), text)
			continue
		}
		w.printf("%s\n\n", text)
	}
	if dated {
		w.printf("\n")
	}
}

// byPage groups facts by the page they are quoted from, each group in the order of
// the page, the groups in the order of their best fact, those about what leads first.
func byPage(facts []*fact) [][]*fact {
	best := append([]*fact{}, facts...)
	sort.SliceStable(best, func(a, b int) bool {
		if best[a].led != best[b].led {
			return best[a].led
		}
		return best[a].score > best[b].score
	})
	index := map[string]int{}
	var groups [][]*fact
	for _, f := range best {
		i, known := index[f.GetUrl()]
		if !known {
			i = len(groups)
			index[f.GetUrl()] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], f)
	}
	for _, group := range groups {
		sort.SliceStable(group, func(a, b int) bool { return group[a].GetStart() < group[b].GetStart() })
	}
	return groups
}

// byDate puts groups in the order of their pages' dates when all have one and the
// dates differ, and says whether it did.
func byDate(groups [][]*fact) bool {
	days := map[string]bool{}
	for _, group := range groups {
		if group[0].published().IsZero() {
			return false
		}
		days[group[0].published().Format(time.DateOnly)] = true
	}
	if len(days) < 2 {
		return false
	}
	sort.SliceStable(groups, func(a, b int) bool { return groups[a][0].published().Before(groups[b][0].published()) })
	return true
}

func namesYears(facts []*fact) bool {
	with := 0
	for _, f := range facts {
		if anyYear.MatchString(f.sentence) {
			with++
		}
	}
	return with > 2 && float64(with) >= leastDated*float64(len(facts))
}

// year is the first that a group names, or that of its page.
func year(group []*fact) string {
	for _, f := range group {
		if found := anyYear.FindString(f.sentence); found != "" {
			return found
		}
	}
	if at := group[0].published(); !at.IsZero() {
		return at.Format("2006")
	}
	return "9999"
}
