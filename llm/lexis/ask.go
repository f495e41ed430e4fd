package lexis

import "strings"

// nearDouble is how alike two short texts are that ask for the same.
const nearDouble = 0.8

// Ask is a query or question, ready to be compared with others.
type Ask struct {
	plain   string
	content map[string]bool
	figures map[string]bool
}

// NewAsk reads a query or question.
func NewAsk(text string) Ask {
	return Ask{
		plain:   strings.ToLower(strings.Join(strings.Fields(text), " ")),
		content: Content(text),
		figures: Figures(text),
	}
}

// Same reports whether two asks want the same: the same words but for endings,
// order and fillers. A figure more or less makes them differ.
func (a Ask) Same(b Ask) bool {
	if a.Equal(b) {
		return true
	}
	if Similarity(a.figures, b.figures) < 1 && len(a.figures)+len(b.figures) > 0 {
		return false
	}
	return Similarity(a.content, b.content) >= nearDouble
}

// Equal reports whether two asks are the same text but for case and spaces.
func (a Ask) Equal(b Ask) bool { return a.plain == b.plain }
