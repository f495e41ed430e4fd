package bm25

import (
	"iter"
	"strings"
	"unicode"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/clipperhouse/uax29/v2/words"
)

// Terms yields the text's words, lowercased and stemmed, without the commonest
// ones of English.
func Terms(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		tokens := words.FromString(text)
		for tokens.Next() {
			term := Term(tokens.Value())
			if term != "" && !yield(term) {
				return
			}
		}
	}
}

// Term is the word as the index knows it; empty for punctuation, space and the
// commonest words.
func Term(word string) string {
	if !strings.ContainsFunc(word, isWordRune) {
		return ""
	}
	word = strings.ReplaceAll(strings.ToLower(word), "’", "'")
	if common[word] {
		return ""
	}
	env := snowballstem.NewEnv(word)
	english.Stem(env)
	return env.Current()
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

var common = wordSet(`a about an and any are as at be been being but by can could
	did do does for from had has have he her his how i if in into is it its itself
	may might more most much my no nor not of on or our she should so some such than
	that the their them then there these they this those to too us was we were what
	when where which while who whom whose why will with would you your`)

func wordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}
