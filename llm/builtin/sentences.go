package builtin

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	unicodesentences "github.com/clipperhouse/uax29/v2/sentences"
	"github.com/neurosnap/sentences"
	"github.com/neurosnap/sentences/english"
)

// span is a part of a text by byte offsets, end excluded.
type span struct {
	start, end int
}

// punkt is read once, since its training data takes milliseconds to decode. It
// is not changed after that and so may be shared.
var punkt = sync.OnceValue(func() *sentences.DefaultSentenceTokenizer {
	tokenizer, err := english.NewSentenceTokenizer(nil)
	if err != nil {
		return nil
	}
	return tokenizer
})

// sentences parts s into sentences without the space around them. English goes
// through Punkt, which knows abbreviations; anything else through the rules of
// Unicode.
func (l *lexer) sentences(s string) []span {
	var ends []int
	if tokenizer := punkt(); l.english && tokenizer != nil && plainPunctuation(s) {
		ends = withFigureEnds(s, tokenizer.SentencePositions(s))
	} else {
		for tokens := unicodesentences.FromString(s); tokens.Next(); {
			ends = append(ends, tokens.End())
		}
	}
	var found []span
	start := 0
	for i, end := range ends {
		if end <= start || end > len(s) || i+1 < len(ends) && goesOn(s[start:end], s[end:]) {
			continue
		}
		if sentence := trimSpan(s, span{start, end}); sentence.start < sentence.end {
			found = append(found, sentence)
		}
		start = end
	}
	if rest := trimSpan(s, span{start, len(s)}); start < len(s) && rest.start < rest.end {
		found = append(found, rest)
	}
	return found
}

// figureEnd is a full stop after a figure. Punkt takes it for that of an ordinal.
var figureEnd = regexp.MustCompile(`[\p{L},.%)\d] ?\d[\d,.]*[%)]?\.["”)]?\s+["“(]?\p{Lu}`)

// withFigureEnds adds the ends of sentences that end in a figure.
func withFigureEnds(s string, ends []int) []int {
	matches := figureEnd.FindAllStringIndex(s, -1)
	if len(matches) == 0 {
		return ends
	}
	for _, match := range matches {
		stop := strings.LastIndexAny(s[match[0]:match[1]], " \t\r\n")
		before := strings.TrimRight(s[match[0]:match[0]+stop], " \t\r\n")
		ends = append(ends, match[0]+len(before))
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}

// plainPunctuation is false for text with ideographic full stops, whose
// positions Punkt does not count in bytes.
func plainPunctuation(s string) bool {
	return !strings.ContainsAny(s, "。；！？")
}

// goesOn says whether a break between before and after is none: the first ends
// in an abbreviation, or the second does not begin like a sentence.
func goesOn(before, after string) bool {
	after = strings.TrimLeft(after, " \t\r\n")
	first, _ := utf8.DecodeRuneInString(after)
	if unicode.IsLower(first) {
		return true
	}
	before = strings.TrimRight(before, " \t\r\n")
	if strings.HasPrefix(after, "(") && len(after) > 1 && isDigit(after[1]) && strings.HasSuffix(before, "al.") {
		return true
	}
	if !strings.HasSuffix(before, ".") {
		return false
	}
	if listGoesOn(before, after) {
		return true
	}
	last := before[strings.LastIndexAny(before[:len(before)-1], " \t\n(“\"'")+1:]
	lower := strings.ToLower(strings.TrimRight(last, "."))
	if abbreviations.has(lower) {
		return true
	}
	if numbered.has(lower) && (unicode.IsDigit(first) || len(after) > 1 && after[1] == '.') {
		return true
	}
	// An initial, as in "J. Smith".
	return len(lower) == 1 && unicode.IsUpper(rune(last[0])) && last != "I."
}

// cutShort ends with an item of a list whose middle is left out, as in "T1 ... Tn".
var cutShort = regexp.MustCompile(`(\pL)[\pL\d]{0,3},? \.\.\.$`)

// listGoesOn says whether after goes on with the last item of such a list.
func listGoesOn(before, after string) bool {
	match := cutShort.FindStringSubmatch(before)
	return match != nil && strings.HasPrefix(after, match[1])
}

var (
	abbreviations = wordSet(`dr mr mrs ms prof st sen rep gov gen col capt lt sgt rev hon vs e.g i.e al cf approx ca dept viz messrs hrs`)
	numbered      = wordSet(`fig figs no nos vol pp p sec ch eq art ref refs jan feb mar apr jun jul aug sep sept oct nov dec`)
)

func trimSpan(s string, sp span) span {
	for sp.start < sp.end {
		r, size := utf8.DecodeRuneInString(s[sp.start:sp.end])
		if !unicode.IsSpace(r) {
			break
		}
		sp.start += size
	}
	for sp.end > sp.start {
		r, size := utf8.DecodeLastRuneInString(s[sp.start:sp.end])
		if !unicode.IsSpace(r) {
			break
		}
		sp.end -= size
	}
	return sp
}
