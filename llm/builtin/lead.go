package builtin

import "strings"

const (
	// topicCount is how often a theme counts as named in a sentence of a page or section
	// that is about it, beside the times that it is.
	topicCount = 0.6
	// topicBonus, centralBonus, statesBonus and relationBonus are what a fact gains for
	// standing on such a page, for how much it says what the page does, for saying what a
	// theme is, and for having a form that answers what is asked of it.
	topicBonus    = 0.1
	centralBonus  = 0.12
	statesBonus   = 0.15
	relationBonus = 0.06
	// rarestShare is how much rarer than the others a word of a longer topic must be to
	// lead by itself.
	rarestShare = 1.0
	// leadShare is the share of the prompt, by weight, that a sentence needs that has
	// nothing to do with what leads; leadHeft bounds it.
	leadShare = 0.6
	leadHeft  = 1.75
	// themeHeft is what the words of a theme that does not lead must weigh together.
	themeHeft = 1.5
	// mostLed is how many telling words a prompt has whose sentences must have a part in
	// what leads. A longer one asks for more than its themes.
	mostLed = 8
	// leastHeft is the weight that the words of the prompt in a sentence and around it must
	// have together, and heftShare bounds that by the prompt's own.
	leastHeft = 1.0
	heftShare = 0.3
)

// lead finds what the pages of the research are about, by their titles: a theme of the
// prompt that has a page of its own leads, and what has no part in one that leads is
// rarely an answer.
func (s *subject) lead(facts []*fact) {
	themes := s.themes()
	spread := map[string]termSet{}
	titled := map[string]bool{}
	byTitle := map[string][]*theme{}
	themed := func(title string) []*theme {
		known, cached := byTitle[title]
		if !cached {
			known = s.lex.themed(title, themes)
			byTitle[title] = known
		}
		return known
	}
	for _, f := range facts {
		page := spread[f.GetUrl()]
		if page == nil {
			page = termSet{}
			spread[f.GetUrl()] = page
		}
		for term := range f.set {
			page[term] = struct{}{}
		}
		f.topics = themed(f.GetTitle())
		if path := f.GetHeadingPath(); len(f.topics) == 0 && len(path) > 0 {
			f.topics = sectionThemes(themed(path[len(path)-1]))
		}
		if len(f.topics) > 0 && !titled[f.GetUrl()] {
			titled[f.GetUrl()] = true
			for _, t := range f.topics {
				t.pages++
			}
		}
	}
	s.leads = s.lex.leading(themes, spread)
	for _, f := range facts {
		f.topics = both(f.topics, s.leads)
	}
	relation := s.relation()
	s.led = len(s.leads) > 0 && s.short()
	for _, f := range facts {
		f.led = s.led && (len(f.topics) > 0 || relation != nil && s.leadsIn(f) && relation.MatchString(f.sentence))
	}
	measureCentrality(facts)
}

// short says whether the themes of the prompt are nearly all that it asks for.
func (s *subject) short() bool {
	return len(newTermSet(s.lex.informative(s.prompt))) <= mostLed
}

// leading are the themes with pages of their own; of the single words of longer topics
// only one that is rarer than the others, and only where there is nothing else.
func (l *lexer) leading(themes []*theme, spread map[string]termSet) []*theme {
	var whole []*theme
	var rarest *theme
	least, next := len(spread)+1, len(spread)+1
	for _, t := range themes {
		if !t.part {
			if t.pages > 0 && l.heft(t.terms, t.terms.has) >= weightRare {
				whole = append(whole, t)
			}
			continue
		}
		count := 0
		for _, page := range spread {
			if t.terms.within(page) == 1 {
				count++
			}
		}
		switch {
		case count == 0:
		case count < least:
			rarest, least, next = t, count, least
		case count < next:
			next = count
		}
	}
	if len(whole) == 0 && rarest != nil && rarest.pages > 0 && float64(least) <= rarestShare*float64(next) {
		return []*theme{rarest}
	}
	return whole
}

func both(list, other []*theme) []*theme {
	var kept []*theme
	for _, t := range list {
		if contains(other, t) {
			kept = append(kept, t)
		}
	}
	return kept
}

// measureCentrality tells for each fact of a page about a theme how much of what it says
// the page's other facts say too.
func measureCentrality(facts []*fact) {
	pages := map[string][]*fact{}
	for _, f := range facts {
		if len(f.topics) > 0 {
			pages[f.GetUrl()] = append(pages[f.GetUrl()], f)
		}
	}
	for _, page := range pages {
		frequency := map[string]float64{}
		for _, f := range page {
			for term := range f.set {
				frequency[term]++
			}
		}
		best := 1e-9
		for _, f := range page {
			f.central = centrality(f.set, frequency)
			best = max(best, f.central)
		}
		for _, f := range page {
			f.central /= best
		}
	}
}

// ofTopic says whether a term belongs to what the fact's page is about.
func (f *fact) ofTopic(term string) bool {
	for _, t := range f.topics {
		if t.terms.has(term) {
			return true
		}
	}
	return false
}

// states says whether a fact tells what one of the leading themes is.
func (s *subject) states(f *fact) bool {
	if !s.lex.english {
		return false
	}
	for _, t := range s.leads {
		if (t.terms.within(f.set) == 1 || contains(f.topics, t)) && s.lex.defining(f.sentence, t) {
			return true
		}
	}
	return false
}

// bears tells which facts bear on the prompt: those of a page about what leads, those
// that name it, and those that have much of the rest.
func (s *subject) bears() func(*fact) bool {
	asked := newTermSet(s.lex.informative(s.prompt))
	outlets := s.lex.set(strings.Join(s.outlets, " . "))
	named := s.lex.set(strings.Join(s.names, " . "))
	for _, term := range s.lex.historyTerms(s.prompt) {
		delete(asked, term)
	}
	for term := range outlets {
		delete(asked, term)
	}
	weigh := func(has func(string) bool) float64 {
		sum := 0.0
		for term := range asked {
			switch {
			case !has(term):
			case named.has(term):
				sum += weightRare
			default:
				sum += s.lex.weight(term)
			}
		}
		return sum
	}
	total := weigh(func(string) bool { return true })
	themes := s.themes()
	return func(f *fact) bool {
		if len(f.topics) > 0 || len(asked) < 2 {
			return true
		}
		around := s.surroundings(f)
		has := func(term string) bool { return f.set.has(term) || around.title.has(term) || around.address.has(term) }
		heft := weigh(has)
		if heft < min(leastHeft, heftShare*total) {
			return false
		}
		if !s.led || heft >= min(leadHeft, leadShare*total) {
			return true
		}
		for _, t := range themes {
			if t.part {
				continue
			}
			if t.terms.within(f.set) == 1 && (contains(s.leads, t) || t.named || s.lex.heft(t.terms, f.set.has) > themeHeft) {
				return true
			}
			if contains(s.leads, t) && all(t.terms, has) {
				return true
			}
		}
		return s.leads[0].part && all(s.leads[0].terms, has)
	}
}

func all(terms termSet, has func(string) bool) bool {
	for term := range terms {
		if !has(term) {
			return false
		}
	}
	return true
}

// leadsIn says whether a fact names a leading theme in its own words.
func (s *subject) leadsIn(f *fact) bool {
	for _, t := range s.leads {
		if t.terms.within(f.set) == 1 {
			return true
		}
	}
	return false
}

// opensWithTopic says whether a sentence of a page about a theme speaks of the theme.
func (s *subject) opensWithTopic(f *fact) bool {
	opening := s.lex.set(cut(f.sentence, subjectBytes))
	for _, t := range f.topics {
		if t.terms.within(opening) == 1 {
			return true
		}
	}
	return false
}
