package builtin

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var quotedName = regexp.MustCompile(`["“]([^"“”\n]{3,60})["”]|(?:^|[\s(])['‘]([A-Z0-9][^'‘’\n]{2,60})['’](?:[\s,.;:?!)]|$)`)

// names finds what s calls by name: runs of capitalised words, acronyms, words
// with digits in them, and what stands in quotation marks. A capitalised word
// that opens a sentence counts only as part of a longer name or when known says
// that it is one.
func (l *lexer) names(s string, known func(stem string) bool) []string {
	var found []string
	for _, match := range quotedName.FindAllStringSubmatch(s, -1) {
		name := strings.Trim(match[1]+match[2], " ,.;:!?")
		if len(strings.Fields(name)) <= 6 {
			found = append(found, name)
		}
	}
	ws := l.words(s)
	if titleCase(ws) {
		return found
	}
	for i := 0; i < len(ws); {
		if !nameLike(ws[i]) {
			i++
			continue
		}
		end := l.nameEnd(s, ws, i)
		first := i
		if opensSentence(s, ws[first].start) {
			first = l.skipOpener(ws, first, end, known)
		}
		if first < end {
			if name := s[ws[first].start:ws[end-1].end]; !plainDate(name) && !ws[first].stop || end-first > 1 {
				found = append(found, strings.Join(strings.Fields(name), " "))
			}
		}
		i = end
	}
	return distinctFold(found)
}

// nameEnd gives the index after the last word of the name that begins at i.
func (l *lexer) nameEnd(s string, ws []word, i int) int {
	end := i + 1
	for end < len(ws) && end-i < 7 {
		gap := s[ws[end-1].end:ws[end].start]
		switch {
		case nameLike(ws[end]) && joinsName(gap, ws[end-1].text):
			end++
		case gap == " " && end+1 < len(ws) && linksName(ws[end].text) && nameLike(ws[end+1]) && s[ws[end].end:ws[end+1].start] == " ":
			end += 2
		case gap == " " && end+2 < len(ws) && ws[end].text == "of" && ws[end+1].text == "the" && nameLike(ws[end+2]):
			end += 3
		default:
			return end
		}
	}
	return end
}

// skipOpener leaves out the words at the start of a sentence that are
// capitalised for standing there.
func (l *lexer) skipOpener(ws []word, first, end int, known func(string) bool) int {
	for opener := first; first < end; {
		lower := strings.ToLower(ws[first].text)
		alone := end-first == 1
		switch {
		case ws[first].stop || isGeneric(lower) || openers.has(lower):
			first++
		case first > opener+1: // "History of the Canal": the capital is not the opener's.
			return first
		case alone && !acronym(ws[first].text) && (known == nil || !known(ws[first].stem)):
			return end
		default:
			return first
		}
	}
	return end
}

var openers = wordSet(`does did is are was were will would could should has have had can may might please summarise
summarize review investigate examine outline describe discuss explore write give explain compare contrast evaluate
what which who whom whose when where why how do list suppose assume imagine today yesterday meanwhile overall
recently currently finally eventually first second third later earlier then here additionally furthermore
moreover however although despite because if while whether within under over using given based former new
history timeline chronology evolution origins comparison overview
people many most some all both every no not yes well right left`)

func nameLike(w word) bool {
	r, _ := utf8.DecodeRuneInString(w.text)
	if unicode.IsUpper(r) {
		return true
	}
	letters, digits, upper := 0, 0, 0
	for _, r := range w.text {
		switch {
		case unicode.IsUpper(r):
			upper++
			letters++
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		}
	}
	return upper > 0 && letters > 1 || digits > 0 && letters > 0 && unicode.IsLetter(r)
}

// joinsName says whether two capitalised words with this gap between them are
// one name.
func joinsName(gap, before string) bool {
	switch gap {
	case " ", "-", "–", " & ", "&", "/", "’", "'":
		return true
	case ". ":
		return len(before) == 1 || isStopTitle(before)
	}
	return false
}

func isStopTitle(before string) bool {
	switch strings.ToLower(before) {
	case "dr", "mr", "mrs", "ms", "st", "prof", "jr", "sr", "gen", "sen", "rep", "gov":
		return true
	}
	return false
}

func linksName(text string) bool {
	switch text {
	case "of", "de", "von", "van", "der", "du", "la", "le", "da", "di", "del", "bin", "al":
		return true
	}
	return false
}

func acronym(text string) bool {
	upper := 0
	for _, r := range text {
		if unicode.IsUpper(r) || unicode.IsDigit(r) {
			upper++
		}
	}
	return upper > 1
}

// opensSentence says whether the word at start is the first of a sentence.
func opensSentence(s string, start int) bool {
	before := strings.TrimRight(s[:start], " \t\n\r\"'“”‘’([*_#>-")
	if before == "" {
		return true
	}
	r, _ := utf8.DecodeLastRuneInString(before)
	return strings.ContainsRune(".!?:;", r)
}

// titleCase says whether nearly all words are capitalised, so that capitals
// tell nothing.
func titleCase(ws []word) bool {
	capital, total := 0, 0
	for _, w := range ws {
		if w.stop {
			continue
		}
		r, _ := utf8.DecodeRuneInString(w.text)
		if !unicode.IsLetter(r) {
			continue
		}
		total++
		if unicode.IsUpper(r) {
			capital++
		}
	}
	return total > 7 && 10*capital > 8*total
}

// distinctFold drops repetitions, and names that are only a part of another.
func distinctFold(list []string) []string {
	var kept []string
	seen := map[string]bool{}
	for _, item := range list {
		key := strings.TrimPrefix(strings.ToLower(item), "the ")
		if key == "" || seen[key] {
			continue
		}
		seen[key] = true
		kept = append(kept, item)
	}
	return kept
}
