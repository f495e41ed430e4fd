package builtin

import (
	"regexp"
	"strings"
)

const (
	// fewestInTitle and shortestNamed keep a title that may be a phrase of any sentence
	// from being taken for the name of a page.
	fewestInTitle = 3
	shortestNamed = 14
)

// sendsOn is what stands beside the name of a page that a sentence sends the reader to.
var sendsOn = regexp.MustCompile(`(?i)\b(?:see|told|collected|compare|story|described|treated|explained|discussed|read|summed up|found|listed|is in|are in)\b`)

// pointers tells which facts only send the reader to another page of the research, whose
// title they have.
func pointers(facts []*fact) func(*fact) bool {
	// titles are the names of the pages by their first word.
	titles := map[string][]string{}
	seen := map[string]bool{}
	for _, f := range facts {
		if seen[f.GetTitle()] {
			continue
		}
		seen[f.GetTitle()] = true
		for _, part := range append(titleGap.Split(f.GetTitle(), 2)[:1], f.GetTitle()) {
			if name := fold(part); len(strings.Fields(name)) >= fewestInTitle && len(name) >= shortestNamed {
				first, _, _ := strings.Cut(name, " ")
				titles[first] = append(titles[first], name)
			}
		}
	}
	return func(f *fact) bool {
		if !sendsOn.MatchString(f.sentence) {
			return false
		}
		sentence := fold(f.sentence)
		for _, word := range strings.Fields(sentence) {
			for _, title := range titles[word] {
				if strings.Contains(sentence, title) && !strings.Contains(fold(f.GetTitle()), title) {
					return true
				}
			}
		}
		return false
	}
}
