package builtin

import (
	"regexp"
	"strings"
)

var (
	imageMark  = regexp.MustCompile(`!\[[^\]\n]*\]\([^)\n]*\)`)
	linkMark   = regexp.MustCompile(`\[([^\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)`)
	footMark   = regexp.MustCompile(`\[\^?\d{1,3}\](?:\([^)\n]*\))?|\[(?:edit|citation needed|note \d+|[a-z])\]`)
	emphMark   = regexp.MustCompile(`\*{1,3}([^*\s](?:[^*\n]*[^*\s])?)\*{1,3}|(^|[\s(])_{1,3}([^_\s](?:[^_\n]*[^_\s])?)_{1,3}([\s).,;:!?]|$)`)
	codeMark   = regexp.MustCompile("`+([^`\n]+)`+")
	htmlTag    = regexp.MustCompile(`</?[a-zA-Z][^<>\n]{0,200}>`)
	escapeMark = regexp.MustCompile(`\\([\\` + "`" + `*_{}\[\]()#+\-.!|<>~])`)
)

// plain is the text of a piece of Markdown as a person reads it, on one line.
func plain(markdown string) string {
	if !strings.ContainsAny(markdown, "*_[`<\\") {
		return strings.Join(strings.Fields(markdown), " ")
	}
	s := imageMark.ReplaceAllString(markdown, "")
	s = footMark.ReplaceAllString(s, "")
	s = linkMark.ReplaceAllString(s, "$1")
	s = codeMark.ReplaceAllString(s, "$1")
	s = emphMark.ReplaceAllString(s, "$1$2$3$4")
	s = htmlTag.ReplaceAllString(s, "")
	s = escapeMark.ReplaceAllString(s, "$1")
	return strings.Join(strings.Fields(s), " ")
}

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", `*`, `\*`, `[`, `\[`, `]`, `\]`, `<`, `\<`, `~~`, `\~~`,
)

// loneUnderscore is one that no letters or digits stand around on both sides; others
// mean nothing in Markdown.
var loneUnderscore = regexp.MustCompile(`(?:^|[^\pL\pN_])_+|_+(?:$|[^\pL\pN_])`)

var lineStart = regexp.MustCompile(`^(?:#{1,6}|[-+=>]+|\d{1,9}[.)])(?:\s|$)`)

// escape makes text that Markdown shows as it is, wherever in a line it stands.
func escape(text string) string {
	text = markdownEscapes.Replace(strings.Join(strings.Fields(text), " "))
	text = loneUnderscore.ReplaceAllStringFunc(text, func(mark string) string { return strings.ReplaceAll(mark, "_", `\_`) })
	return lineStart.ReplaceAllStringFunc(text, func(mark string) string {
		if !isDigit(mark[0]) {
			return `\` + mark
		}
		at := strings.IndexAny(mark, ".)")
		return mark[:at] + `\` + mark[at:]
	})
}
