package builtin

import "strings"

// phrases finds what s is about beside its names: runs of words that mean
// something, with nothing but spaces and hyphens between them. The order is that
// of the text. Runs of one word are kept when the word is a telling one.
func (l *lexer) phrases(s string, maxWords int) []string {
	ws := l.words(s)
	var found []string
	for i := 0; i < len(ws); {
		if !l.telling(s, ws, i) {
			i++
			continue
		}
		end := i + 1
		for end < len(ws) && end-i < maxWords && l.telling(s, ws, end) && joinsPhrase(s[ws[end-1].end:ws[end].start]) {
			end++
		}
		if phrase := s[ws[i].start:ws[end-1].end]; end-i > 1 || len(phrase) > 3 {
			found = append(found, strings.Join(strings.Fields(phrase), " "))
		}
		i = end
	}
	return distinctFold(found)
}

// telling says whether a word may be part of a topic. One that a hyphen binds to
// another always is: "write" says something in "write-heavy".
func (l *lexer) telling(s string, ws []word, i int) bool {
	w := ws[i]
	if hyphened(s, ws, i) {
		return true
	}
	if w.stop || isNumber(w.stem) {
		return false
	}
	lower := strings.ToLower(w.text)
	return !l.english || !isGeneric(lower) && !linkVerbs.has(lower)
}

// hyphened says whether a hyphen binds a word to the one before or after it.
func hyphened(s string, ws []word, i int) bool {
	return i > 0 && joinsTight(s[ws[i-1].end:ws[i].start]) || i+1 < len(ws) && joinsTight(s[ws[i].end:ws[i+1].start])
}

// linkVerbs are common verbs that stand between two topics and belong to neither.
var linkVerbs = wordSet(`cause causes caused affect affects affected influence influences influenced increases increased decreases
decreased reduce reduces reduced prevent prevents improve improves improved helps helped lead leads led works
worked allow allows allowed require requires mean means differ differs begin begins starts started ended ends
spend spent survive survives encourage encourages elicit supports supported changes changed associated linked
runs replace replaces replaced differed survived reach reaches reached avoid avoids avoided ensure ensures decide decides
become depend depends contribute contributes plays played lives lived born died won win lose lost serve served
follow followed following located written directed promote promotes inhibit inhibits induce induces regulate
regulates enhance enhances resulting exist exists occur occurs create created needs suffer suffers treats
impacts implement implements implemented adopt adopted respond responded develop developed fall fell`)

func joinsPhrase(gap string) bool {
	return gap == " " || gap == "-" || gap == "–" || gap == "’" || gap == "'"
}

// keywords is s without the words that carry no meaning, in order, each once,
// and at most limit of them.
func (l *lexer) keywords(s string, limit int) string {
	return l.keep(s, limit, func(lower string) bool { return !l.english || !isGeneric(lower) })
}

// keep is keywords with a say in which words count.
func (l *lexer) keep(s string, limit int, counts func(lower string) bool) string {
	var kept []string
	seen := termSet{}
	ws := l.words(s)
	for i, w := range ws {
		if len(kept) == limit {
			break
		}
		lower := strings.ToLower(w.text)
		if seen.has(w.stem) || !hyphened(s, ws, i) && (w.stop || !counts(lower)) {
			continue
		}
		seen[w.stem] = struct{}{}
		text := strings.TrimSuffix(strings.TrimSuffix(w.text, "'s"), "’s")
		if i > 0 && len(kept) > 0 && joinsTight(s[ws[i-1].end:w.start]) && strings.HasSuffix(kept[len(kept)-1], ws[i-1].text) {
			kept[len(kept)-1] += "-" + text
			continue
		}
		kept = append(kept, text)
	}
	return strings.Join(kept, " ")
}

func joinsTight(gap string) bool {
	return gap == "-"
}
