package provider

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fathom-research/fathom/services/searcher/internal/normalize"
)

// maxQuery bounds the text of a query in bytes; engines cut or refuse longer ones.
const maxQuery = 1024

// plain takes SearXNG's own syntax out of a query: a word that begins with ! chooses
// engines or redirects away, with ? or : and a letter it sets engines or the language,
// with < and a digit the timeout. A query is made by a model from pages' text, so it
// is never meant as a command.
func plain(text string) string {
	words := strings.Fields(normalize.Text(text, maxQuery))
	kept := words[:0]
	for _, word := range words {
		for commands(word) {
			word = word[1:]
		}
		if word != "" {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " ")
}

func commands(word string) bool {
	if word == "" {
		return false
	}
	next, _ := utf8.DecodeRuneInString(word[1:])
	switch word[0] {
	case '!', '?':
		return true
	case ':':
		return unicode.IsLetter(next)
	case '<':
		return unicode.IsDigit(next)
	default:
		return false
	}
}
