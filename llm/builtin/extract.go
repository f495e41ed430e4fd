package builtin

import (
	"math"
	"sort"
	"unicode/utf8"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

const (
	// mostExtractions of one page keep a long page from drowning the others.
	mostExtractions = 7
	// mostThin is the same for a page that has a single term of what was asked.
	mostThin = 2
	// pool is how many of the best sentences are weighed against each other.
	pool = 60
	// leastShare of the best sentence's score is what another one needs.
	leastShare = 0.35
	// leastRelevance is the share of what was asked that a sentence must cover,
	// its surroundings included; below it a page has nothing to say.
	leastRelevance = 0.12

	neighbourCount = 0.3
	headingCount   = 0.35
	titleCount     = 0.3

	queryWeight     = 1.0
	objectiveWeight = 0.5
	promptWeight    = 0.5
	nameBonus       = 0.4

	// hangingShare and methodShare are what a sentence keeps of its score when it
	// leans on one that is not quoted, and when it tells how something was studied.
	hangingShare = 0.5
	methodShare  = 0.7
)

// Extract finds what a page says about the task's objective: verbatim quotes
// with their offsets, the most relevant first. A page that says nothing about
// it gives nothing.
func Extract(task *workv1.AnalyzeTask) *workv1.AnalyzeResult {
	lex := newLexer(isEnglish(task.GetLanguage(), task.GetText()))
	query := lex.asked(task)
	result := &workv1.AnalyzeResult{}
	if len(query.terms) == 0 {
		return result
	}
	found := lex.candidates(task.GetText(), task.GetSections())
	lex.weigh(found, query, task)
	chosen := choose(found)
	for _, c := range append(chosen, lex.central(found, chosen, task)...) {
		result.Extractions = append(result.Extractions, extraction(task, c))
	}
	return result
}

func extraction(task *workv1.AnalyzeTask, c candidate) *workv1.Extraction {
	return &workv1.Extraction{
		Claim:       c.claim,
		Quote:       task.GetText()[c.start:c.end],
		Start:       int32(c.start),
		End:         int32(c.end),
		Url:         task.GetUrl(),
		Title:       task.GetTitle(),
		Published:   task.GetPublished(),
		HeadingPath: c.path,
		Page:        c.page,
		Relevance:   math.Round(1000*c.relevance) / 1000,
	}
}

// asked weighs the terms of query, objective and prompt. The query counts most:
// it is what the page was found by.
func (l *lexer) asked(task *workv1.AnalyzeTask) *weights {
	query := &weights{}
	prompt := cut(task.GetPrompt(), promptBytes)
	for _, part := range []struct {
		text   string
		weight float64
	}{{task.GetQuery(), queryWeight}, {task.GetObjective(), objectiveWeight}, {prompt, promptWeight}} {
		if utf8.ValidString(part.text) {
			query.add(l.informative(cut(part.text, promptBytes)), part.weight)
		}
	}
	for _, name := range l.names(prompt+". "+cut(task.GetObjective(), promptBytes), nil) {
		for term := range l.set(name) {
			if query.of[term] > 0 {
				query.of[term] += nameBonus
			}
		}
	}
	return query
}

// weigh scores the sentences of a page. What stands around a sentence, the
// headings above it and the page's title say what it is about, and count for less
// than its own words.
func (l *lexer) weigh(found []candidate, query *weights, task *workv1.AnalyzeTask) {
	sets := make([]termSet, len(found))
	lengths := make([]int, len(found))
	for i, c := range found {
		sets[i], lengths[i] = c.set, len(c.terms)
	}
	index := newBM25(sets, lengths)
	titleTerms := l.set(cut(task.GetTitle(), 400))
	history := l.historyTerms(cut(task.GetPrompt(), promptBytes))
	headings := map[string]termSet{}
	total := query.total()
	for i := range found {
		c := &found[i]
		own := map[string]float64{}
		for _, term := range c.terms {
			own[term]++
		}
		if len(history) > 0 && anyYear.MatchString(c.claim) {
			for _, term := range history {
				own[term]++
			}
		}
		around := l.headingTerms(headings, c.path)
		counts := func(term string) float64 {
			tf := own[term]
			for _, j := range []int{i - 1, i + 1} {
				if j >= 0 && j < len(found) && found[j].block == c.block && found[j].set.has(term) {
					tf += neighbourCount
				}
			}
			if around.has(term) {
				tf += headingCount
			}
			if titleTerms.has(term) {
				tf += titleCount
			}
			return tf
		}
		c.score = index.score(query, counts, len(c.terms))
		covered, direct, named := 0.0, 0, 0
		for _, term := range query.terms {
			covered += query.of[term] * min(1, counts(term))
			if own[term] > 0 {
				direct++
			}
			if counts(term) > 0 {
				named++
			}
		}
		c.relevance = covered / total
		c.thin = named < min(2, len(query.terms))
		if direct == 0 {
			c.score = 0
		}
		if c.hanging {
			c.score *= hangingShare
		}
		if l.english && howItWasDone.MatchString(c.claim) {
			c.score *= methodShare
			c.relevance *= methodShare
		}
	}
}

func (l *lexer) headingTerms(known map[string]termSet, path []string) termSet {
	if len(path) == 0 {
		return nil
	}
	key := path[len(path)-1]
	set, cached := known[key]
	if !cached {
		set = l.set(cut(key, 400))
		known[key] = set
	}
	return set
}

// choose picks the sentences to extract: relevant, and not like each other.
func choose(found []candidate) []candidate {
	chosen := chooseFrom(found, mostExtractions, func(c candidate) bool { return !c.thin })
	if len(chosen) == 0 {
		return chooseFrom(found, mostThin, func(c candidate) bool { return !c.hanging })
	}
	return chosen
}

func chooseFrom(found []candidate, most int, fits func(candidate) bool) []candidate {
	order := make([]int, 0, len(found))
	for i, c := range found {
		if c.score > 0 && c.relevance >= leastRelevance && fits(c) {
			order = append(order, i)
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return found[order[a]].score > found[order[b]].score })
	order = withoutFurniture(found, order)
	if len(order) == 0 {
		return nil
	}
	best := found[order[0]].score
	picked := marginal(len(order), most,
		func(i int) float64 { return found[order[i]].score / best },
		func(i, j int) float64 { return overlap(&found[order[i]], &found[order[j]]) })
	var chosen []candidate
	for _, i := range picked {
		c := found[order[i]]
		if c.score >= leastShare*best && !overlapsAny(chosen, &c) {
			chosen = append(chosen, c)
		}
	}
	sort.SliceStable(chosen, func(a, b int) bool { return chosen[a].relevance > chosen[b].relevance })
	return chosen
}

// overlap is how much two sentences of a page say the same; quotes that share
// text do so entirely.
func overlap(a, b *candidate) float64 {
	if a.start < b.end && b.start < a.end {
		return 1
	}
	return a.set.jaccard(b.set)
}

// withoutFurniture keeps the first of the order that belong to the page's content.
// Only these are looked at, since to tell furniture costs more than to score it.
func withoutFurniture(found []candidate, order []int) []int {
	var kept []int
	for _, i := range order {
		if len(kept) == pool {
			break
		}
		if !furniture(found[i].claim) {
			kept = append(kept, i)
		}
	}
	return kept
}

func overlapsAny(chosen []candidate, c *candidate) bool {
	for i := range chosen {
		if overlap(&chosen[i], c) > 0.9 {
			return true
		}
	}
	return false
}
