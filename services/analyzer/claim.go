package analyzer

import (
	"strings"
	"unicode/utf8"

	"github.com/fathom-research/fathom/llm/lexis"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/analyzer/internal/locate"
)

const (
	// before and after are how many bytes around a quote may explain it: whom "he"
	// means, which year "that year" is.
	before, after = 600, 200
	// grounded is the share of a claim's words that its quote and surroundings have.
	grounded = 0.6
	maxClaim = 600
)

// claim is the model's claim when the page bears it out, and the quote's own words
// when it does not: a claim must never say more than what was read.
func claim(page *workv1.AnalyzeTask, extraction *workv1.Extraction, given string) string {
	given = strings.Join(strings.Fields(given), " ")
	own := locate.Plain(extraction.GetQuote())
	if given == "" || utf8.RuneCountInString(given) > maxClaim {
		return own
	}
	context := surroundings(page, extraction)
	figures := lexis.Figures(context)
	for figure := range lexis.Figures(given) {
		if !figures[figure] {
			return own
		}
	}
	words := lexis.Content(context)
	for name := range lexis.Names(given) {
		if !words[name] {
			return own
		}
	}
	if lexis.Coverage(lexis.Content(given), words) < grounded || !aboutQuote(given, own) || denialDiffers(given, own) {
		return own
	}
	return given
}

// aboutQuote reports whether claim and quote speak of the same thing at all.
func aboutQuote(claim, quote string) bool {
	return lexis.Coverage(lexis.Content(claim), lexis.Content(quote)) >= grounded/2
}

// denialDiffers reports whether one denies what the other states.
func denialDiffers(claim, quote string) bool {
	return deniesStated(claim, quote) || deniesStated(quote, claim)
}

func deniesStated(denying, stating string) bool {
	denied := lexis.Denied(stating)
	content := lexis.Content(stating)
	for stem := range lexis.Denied(denying) {
		if content[stem] && !denied[stem] {
			return true
		}
	}
	return false
}

func surroundings(page *workv1.AnalyzeTask, extraction *workv1.Extraction) string {
	text := page.GetText()
	start := max(0, int(extraction.GetStart())-before)
	end := min(len(text), int(extraction.GetEnd())+after)
	parts := []string{
		page.GetTitle(), strings.Join(extraction.GetHeadingPath(), ". "),
		locate.Plain(strings.ToValidUTF8(text[start:end], " ")),
	}
	if published := page.GetPublished(); published.IsValid() {
		parts = append(parts, published.AsTime().Format("2 January 2006"))
	}
	return strings.Join(parts, ". ")
}
