package builtin

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// noSubject opens a sentence whose subject is the term that it explains.
var noSubject = regexp.MustCompile(`^(?:Specif(?:ies|y)|Sets?|Controls?|Determines?|Defines?|Returns?|Causes?|Enables?|Disables?|Allows?|Indicates?|Describes?|Gives?|Shows?|Lists?|Creates?|Removes?|Deletes?|Writes?|Reads?|Prints?|Converts?|Computes?|Limits?|Selects?|Forces?|Prevents?|Requests?|Logs?|Reports?|Instructs?|Identif(?:ies|y)|Contains?|Names?|Represents?|Makes?|Provides?|Uses?|Ensures?|Checks?|Changes?|Adds?|Starts?|Stops?|Tells?|Turns?|Waits?|Emits?|Stores?)\b`)

// longestTerm bounds what is taken for a term.
const longestTerm = 120

// term is the block above when it is the name of what b explains, as in a list of
// definitions: a short line that is no sentence.
func term(text string, above, b block) span {
	name := text[above.start:above.end]
	if b.kind == tableRow || above.kind == tableRow || len(name) > longestTerm || strings.TrimSpace(text[above.end:b.start]) != "" && b.kind == paragraph {
		return span{}
	}
	shown := plain(name)
	if shown == "" || endsSentence(shown) || len(strings.Fields(shown)) > 8 || !utf8.ValidString(name) || b.start-above.end > 40 {
		return span{}
	}
	return span{above.start, above.end}
}

// lowered writes the first letter of a sentence small, where it is no name's.
func lowered(sentence string) string {
	return strings.ToLower(sentence[:1]) + sentence[1:]
}
