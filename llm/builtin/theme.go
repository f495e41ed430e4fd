package builtin

import (
	"regexp"
	"strings"
)

// theme is something in a prompt that a page of its own may be about.
type theme struct {
	terms termSet
	// part says that the theme is a single word out of a longer topic.
	part bool
	// named says that it is a name or a side of a comparison.
	named bool
	// pages counts the pages of the research that are about it.
	pages int
}

// mostInTheme bounds the terms of a theme: no page has a whole sentence for its title.
const mostInTheme = 3

// themes are the sides, names, list items and topics of the prompt, without the words
// that any page may have, and the rare words of its topics by themselves.
func (s *subject) themes() []*theme {
	var found []*theme
	seen := map[string]bool{}
	history := s.lex.historyTerms(s.prompt)
	add := func(terms []string, part bool) {
		set := newTermSet(terms)
		for _, term := range history {
			delete(set, term)
		}
		key := strings.Join(terms, " ")
		if len(set) == 0 || len(set) > mostInTheme || seen[key] {
			return
		}
		seen[key] = true
		found = append(found, &theme{terms: set, part: part})
	}
	for _, name := range append(append([]string{}, s.sides...), s.names...) {
		add(s.lex.informative(name), false)
	}
	for _, t := range found {
		t.named = true
	}
	for _, topic := range s.topics {
		add(s.lex.heavy(topic), false)
	}
	for _, topic := range s.topics {
		for _, term := range s.lex.informative(topic) {
			if s.lex.weight(term) == weightRare {
				add([]string{term}, true)
			}
		}
	}
	return found
}

// heavy are the terms of s without common words, where two or more are left; one common
// word alone says nothing.
func (l *lexer) heavy(s string) []string {
	var kept []string
	all := l.informative(s)
	for _, term := range all {
		if l.weight(term) > weightFrequent {
			kept = append(kept, term)
		}
	}
	if len(kept) < 2 && len(all) > 1 {
		return all
	}
	return kept
}

// sectionThemes are those of the themes that a heading inside of a page can tell: names
// and phrases. A single word heads sections of any page.
func sectionThemes(themes []*theme) []*theme {
	var kept []*theme
	for _, t := range themes {
		if t.named || len(t.terms) > 1 {
			kept = append(kept, t)
		}
	}
	return kept
}

// titleGap parts a title.
var titleGap = regexp.MustCompile(`[:|—–·»]\s|\s[-—–|]\s`)

// themeShare is the share of a title's words, or of those of a part of it, that a theme
// must be: a headline names much that it is not about.
const themeShare = 0.25

// themed gives those of the themes that a title or heading is about.
func (l *lexer) themed(title string, themes []*theme) []*theme {
	if title == "" || len(themes) == 0 {
		return nil
	}
	title = cut(title, 400)
	parts := []termSet{l.set(title)}
	for _, part := range titleGap.Split(title, -1) {
		parts = append(parts, l.set(part))
	}
	var found []*theme
	for _, t := range themes {
		for _, part := range parts {
			if t.terms.within(part) == 1 && float64(len(t.terms)) >= themeShare*float64(len(part)) {
				found = append(found, t)
				break
			}
		}
	}
	return found
}
