package lexis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Figures is the set of numbers in a text, in their plain form.
func Figures(text string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range Words(text) {
		if word.Number {
			set[word.Stem] = true
		}
	}
	return set
}

// Names is the set of stems of the words that a text writes with a capital inside
// of its sentences. The first word of a sentence counts when more capitals follow it.
func Names(text string) map[string]bool {
	set := make(map[string]bool)
	words := Words(text)
	for i, word := range words {
		if word.Stop || word.Number || !capital(word.Text) {
			continue
		}
		if word.Initial && (i+1 == len(words) || words[i+1].Initial || !capital(words[i+1].Text)) {
			continue
		}
		set[word.Stem] = true
	}
	return set
}

func capital(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(r)
}

// reach is how many words a denial looks ahead for what it denies.
const reach = 4

// Denied is the set of stems that a text denies: for each denial the first word of
// content after it.
func Denied(text string) map[string]bool {
	set := make(map[string]bool)
	words := Words(text)
	for i, word := range words {
		lower := strings.ToLower(strings.ReplaceAll(word.Text, "’", "'"))
		if !denials[lower] || notOnly(words, i) {
			continue
		}
		for _, next := range words[i+1 : min(len(words), i+1+reach)] {
			if next.Initial {
				break
			}
			if !next.Stop {
				set[next.Stem] = true
				break
			}
		}
	}
	return set
}

// notOnly recognises "not only", "not just" and "no doubt", which affirm.
func notOnly(words []Word, i int) bool {
	if i+1 == len(words) {
		return false
	}
	switch strings.ToLower(words[i+1].Text) {
	case "only", "just", "merely", "doubt", "least":
		return true
	default:
		return false
	}
}

// ContentWithAcronyms is Content with the initials of the names in text, so that a
// text about the European Union supports one about the EU.
func ContentWithAcronyms(text string) map[string]bool {
	set := Content(text)
	words := Words(text)
	for i := 0; i < len(words); i++ {
		var initials strings.Builder
		for j := i; j < len(words) && j < i+6 && (j == i || !words[j].Initial); j++ {
			if words[j].Number || (!capital(words[j].Text) && !words[j].Stop) {
				break
			}
			if !capital(words[j].Text) {
				continue
			}
			r, _ := utf8.DecodeRuneInString(words[j].Text)
			initials.WriteRune(unicode.ToUpper(r))
			if initials.Len() > 1 {
				set[newWord(initials.String()).Stem] = true
			}
		}
	}
	return set
}
