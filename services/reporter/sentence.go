package reporter

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fathom-research/fathom/services/reporter/internal/draft"
)

var (
	marks      = regexp.MustCompile(`\s*\[(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\]`)
	digits     = regexp.MustCompile(`\d+`)
	linkTarget = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	label      = regexp.MustCompile(`^(?i:quote|claim|sentence|title|evidence)\s*(?:\d+\s*)?:\s+`)
	address    = regexp.MustCompile(`<?https?://[^\s>)]+>?`)
)

// sentencesOf cleans one sentence of a model: citation marks that it put into the
// text count as sources, labels, links and addresses go, brackets that
// could be taken for marks become round. Nothing is left of a text without words.
func sentencesOf(text string, sources []int) []draft.Sentence {
	text = linkTarget.ReplaceAllString(text, "$1")
	text = address.ReplaceAllString(text, "")
	numbers := slices.Clone(sources)
	for _, mark := range marks.FindAllString(text, -1) {
		for _, digit := range digits.FindAllString(mark, -1) {
			n, err := strconv.Atoi(digit)
			if err == nil && !slices.Contains(numbers, n) {
				numbers = append(numbers, n)
			}
		}
	}
	text = marks.ReplaceAllString(text, "")
	text = strings.TrimLeft(oneLine(text), "#>-*+| ")
	text = label.ReplaceAllString(text, "")
	text = strings.NewReplacer("<", "‹", ">", "›", "[", "(", "]", ")", " .", ".", " ,", ",").Replace(text)
	if text == "" {
		return nil
	}
	return []draft.Sentence{{Text: text, Evidence: numbers}}
}

func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
}

// longestTitle bounds a report's title in characters.
const longestTitle = 120

func title(given, fallback string) string {
	text := strings.Trim(oneLine(given), "#*\" ")
	if text == "" {
		text = oneLine(fallback)
	}
	if utf8.RuneCountInString(text) <= longestTitle {
		return text
	}
	cut := string([]rune(text)[:longestTitle])
	return cut[:max(strings.LastIndexByte(cut, ' '), longestTitle/2)] + " …"
}
