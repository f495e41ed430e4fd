// Package locate finds in a page's text the words that a model quoted from it,
// although it wrote other quotation marks, spaces or no Markdown.
package locate

import "strings"

// Span is a part of a text in bytes, End excluded.
type Span struct{ Start, End int }

const (
	// shortest is the fewest bytes that are worth calling a quote.
	shortest = 12
	// longest bounds a quote: what is longer is a copy and no evidence.
	longest = 2000
	// longestGap bounds what an ellipsis may leave out between two parts.
	longestGap = 500
)

// Index is a text that is ready to be searched.
type Index struct {
	text string
	norm normal
}

// New prepares text.
func New(text string) *Index {
	return &Index{text: text, norm: normalize(text)}
}

// Find looks for quote, first inside of text[from:to], where the model read it. The
// span that is found is cut at whole characters of the text.
func (x *Index) Find(quote string, from, to int) (Span, bool) {
	quote = strings.TrimSpace(quote)
	if len(quote) < shortest || len(quote) > longest {
		return Span{}, false
	}
	span, ok := x.exact(quote, from, to)
	if ok {
		return span, true
	}
	span, ok = x.normalized(quote, from, to)
	if ok {
		return span, true
	}
	return x.elided(quote, from, to)
}

func (x *Index) exact(quote string, from, to int) (Span, bool) {
	at := strings.Index(x.text[from:to], quote)
	if at >= 0 {
		return Span{from + at, from + at + len(quote)}, true
	}
	at = strings.Index(x.text, quote)
	if at < 0 {
		return Span{}, false
	}
	return Span{at, at + len(quote)}, true
}

func (x *Index) normalized(quote string, from, to int) (Span, bool) {
	needle := strings.Trim(normalize(quote).text, " .,;:!?'-")
	if len(needle) < shortest {
		return Span{}, false
	}
	low, high := x.norm.at(from), x.norm.at(to)
	at := strings.Index(x.norm.text[low:high], needle)
	if at >= 0 {
		at += low
	} else {
		at = strings.Index(x.norm.text, needle)
	}
	if at < 0 {
		return Span{}, false
	}
	span := Span{x.norm.starts[at], x.norm.ends[at+len(needle)-1]}
	// The sentence's own end belongs to the quote.
	if span.End < len(x.text) && strings.IndexByte(".!?", x.text[span.End]) >= 0 {
		span.End++
	}
	return span, span.End-span.Start <= longest
}

// elided finds a quote whose middle the model left out: the parts must follow one
// another closely, and all that stands between them becomes part of the quote.
func (x *Index) elided(quote string, from, to int) (Span, bool) {
	quote = strings.NewReplacer("[…]", "…", "[...]", "…", "(...)", "…", "...", "…").Replace(quote)
	parts := strings.Split(quote, "…")
	if len(parts) < 2 {
		return Span{}, false
	}
	var whole Span
	for _, part := range parts {
		if len(strings.TrimSpace(part)) < shortest {
			continue
		}
		start := from
		if whole.End > 0 {
			start = whole.End
		}
		if start > to {
			return Span{}, false
		}
		span, ok := x.normalized(part, start, to)
		if !ok || span.Start < start || (whole.End > 0 && span.Start-whole.End > longestGap) {
			return Span{}, false
		}
		if whole.End == 0 {
			whole.Start = span.Start
		}
		whole.End = span.End
	}
	return whole, whole.End > 0 && whole.End-whole.Start <= longest
}
