package builtin

import (
	"regexp"
	"strings"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// promptBytes is how much of a prompt is taken apart: beyond it, people paste
// material, and do not ask any more.
const promptBytes = 6 << 10

// subject is a prompt taken apart into its facets.
type subject struct {
	lex    *lexer
	prompt string
	// names, topics, dates and sides stand in the order of the prompt.
	names []string
	// outlets are the names that the prompt gives as where something is reported.
	outlets []string
	topics  []string
	dates   []string
	// sides are what is compared: none, or two and more.
	sides []string
	// clauses are the parts of a prompt that asks for several things at once.
	clauses []string
	// facets are what the prompt asks about, in its order.
	facets []*facet
	// leads are the themes of the prompt that pages are about.
	leads []*theme
	// led says that what has no part in one is left out.
	led bool
	// wishes are the clarifications that say something.
	wishes []wish
}

// wish is an answer of the person, with the question it answers.
type wish struct {
	question string
	answer   string
}

func newSubject(prompt string, clarifications []*workv1.Clarification) *subject {
	prompt = strings.Join(strings.Fields(plain(strings.ToValidUTF8(cut(prompt, promptBytes), " "))), " ")
	lex := newLexer(isEnglish("", prompt))
	s := &subject{lex: lex, prompt: prompt, dates: dates(prompt), sides: sides(prompt)}
	s.names, s.outlets = splitOutlets(prompt, lex.names(prompt, nil))
	s.topics = tellingTopics(s.withoutNames(lex.phrases(masked(prompt, s.names, s.outlets), 4)))
	s.clauses = lex.clauses(prompt)
	for _, c := range clarifications {
		answer := strings.Join(strings.Fields(strings.ToValidUTF8(cut(c.GetAnswer(), 600), " ")), " ")
		if saysSomething(answer) {
			s.wishes = append(s.wishes, wish{question: c.GetQuestion(), answer: answer})
		}
	}
	return s
}

// masked takes the names out of a prompt, so that no topic runs across one.
func masked(prompt string, lists ...[]string) string {
	for _, names := range lists {
		for _, name := range names {
			prompt = strings.ReplaceAll(prompt, name, " | ")
		}
	}
	return prompt
}

// withoutNames drops the topics that only repeat words of names.
func (s *subject) withoutNames(topics []string) []string {
	named := s.lex.set(strings.Join(s.names, " . ") + " . " + strings.Join(s.outlets, " . "))
	for _, term := range s.lex.historyTerms(s.prompt) {
		if len(s.names) > 0 {
			named[term] = struct{}{}
		}
	}
	var kept []string
	for _, topic := range topics {
		terms := s.lex.set(topic)
		if len(terms) > 0 && terms.within(named) < 0.5 && !plainDate(topic) {
			kept = append(kept, topic)
		}
	}
	return kept
}

// tellingTopics drops single words where longer phrases say what it is about:
// alone, most words are too wide to ask for.
func tellingTopics(topics []string) []string {
	var long, short []string
	for _, topic := range topics {
		switch {
		case strings.ContainsAny(topic, " -"):
			long = append(long, topic)
		case !strings.HasSuffix(topic, "ly") && !strings.HasSuffix(topic, "ed"):
			short = append(short, topic)
		}
	}
	if len(long) > 1 || len(short) == 0 && len(long) > 0 {
		return long
	}
	if len(long)+len(short) == 0 {
		return topics
	}
	var kept []string
	for _, topic := range topics {
		if contains(long, topic) || contains(short, topic) {
			kept = append(kept, topic)
		}
	}
	return kept
}

// informative gives the terms of s that tell what it is about.
func (l *lexer) informative(s string) []string {
	var terms []string
	for _, w := range l.words(s) {
		if !w.stop && (!l.english || !isGeneric(strings.ToLower(w.text))) {
			terms = append(terms, w.stem)
		}
	}
	return terms
}

// saysSomething is false for an answer that leaves the matter open.
func saysSomething(answer string) bool {
	lower := strings.Trim(strings.ToLower(answer), " .!-")
	switch lower {
	case "", "no", "yes", "none", "any", "all", "n/a", "na", "both", "no preference", "not sure", "don't know",
		"i don't know", "whatever", "doesn't matter", "no idea", "skip", "unknown", "either", "you decide", "anything":
		return false
	}
	return isWord(lower)
}

// core is what the prompt is about in at most a few words, for queries.
func (s *subject) core(maxWords int) string {
	var parts []string
	count := 0
	add := func(list []string, most int) {
		for i, item := range list {
			size := len(strings.Fields(item))
			if i >= most || count+size > maxWords {
				continue
			}
			parts = append(parts, item)
			count += size
		}
	}
	add(s.sides, 2)
	if len(s.sides) == 0 {
		add(s.names, 2)
	}
	add(s.topics, 3)
	core := s.lex.keywords(strings.Join(parts, " "), maxWords)
	if core == "" {
		core = s.lex.keywords(s.prompt, maxWords)
	}
	if core == "" {
		core = strings.Join(firstWords(s.prompt, maxWords), " ")
	}
	return core
}

// endsOpen is true for what does not end like the name of a thing.
var endsOpen = regexp.MustCompile(`(?i)\b(?:to|of|for|in|on|at|by|with|from|about|when|if|that|which|who|is|are|was|were|do|does|did|can|should|must|you|we|they|it)$|\b(?:that|which|who|when|if)\b`)

// askedFor takes the subject out of a plain question or order.
var askedFor = regexp.MustCompile(`(?i)^(?:(?:what|which|who) (?:is|are|was|were)|(?:please )?(?:explain|describe|summari[sz]e|analy[sz]e|assess|evaluate|investigate|examine|outline|research|review|discuss|explore|write (?:a|an) \w+ (?:on|about)|give (?:me )?an overview of|tell me about|report on)) ((?:the |an? )?[^,;:?.!]{4,80}?)[?.!]?$`)

// label names the prompt's subject inside a sentence.
func (s *subject) label() string {
	if match := askedFor.FindStringSubmatch(s.prompt); match != nil && len(s.sides) == 0 && !endsOpen.MatchString(match[1]) {
		return match[1]
	}
	switch {
	case len(s.sides) > 1:
		return s.sides[0] + " and " + s.sides[1]
	case len(s.names) > 1 && len(s.names[0])+len(s.names[1]) < 60:
		return s.names[0] + " and " + s.names[1]
	case len(s.names) > 0 && len(s.topics) > 0:
		return s.names[0] + " (" + s.topics[0] + ")"
	case len(s.names) > 0:
		return s.names[0]
	case len(s.topics) > 1 && len(s.topics[0])+len(s.topics[1]) < 60:
		return s.topics[0] + " and " + s.topics[1]
	case len(s.topics) > 0:
		return s.topics[0]
	case s.prompt != "":
		return "“" + shorten(s.prompt, 60) + "”"
	}
	return "the subject"
}

func firstWords(s string, limit int) []string {
	fields := strings.Fields(s)
	kept := make([]string, 0, limit)
	for _, field := range fields {
		if len(kept) == limit {
			break
		}
		kept = append(kept, cut(field, longestWord))
	}
	return kept
}

// shorten cuts s at a word's end and marks the cut.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	short := cut(s, limit)
	if space := strings.LastIndexByte(short, ' '); space > limit/2 {
		short = short[:space]
	}
	return strings.TrimRight(short, " ,;:.-–") + "…"
}
