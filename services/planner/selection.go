package planner

import (
	"strings"
	"unicode/utf8"

	"github.com/fathom-research/fathom/llm/lexis"
)

// How long a query or question may be, in characters: search engines cut longer
// queries off anyway.
const (
	maxQuery    = 300
	maxQuestion = 500
)

// selection collects texts of which no two ask for the same.
type selection[T any] struct {
	want    int
	textOf  func(T) string
	known   []lexis.Ask
	kept    []T
	refused []T
}

// newSelection wants n texts that differ from each other and from those in known.
func newSelection[T any](n int, textOf func(T) string, known ...[]string) *selection[T] {
	s := &selection[T]{want: n, textOf: textOf}
	for _, texts := range known {
		for _, text := range texts {
			s.known = append(s.known, lexis.NewAsk(text))
		}
	}
	return s
}

func (s *selection[T]) missing() int { return s.want - len(s.kept) }

// offer keeps the candidate if one more is wanted and nothing asks for the same.
func (s *selection[T]) offer(candidate T) {
	if s.missing() == 0 {
		return
	}
	ask := lexis.NewAsk(s.textOf(candidate))
	for _, known := range s.known {
		if known.Same(ask) {
			s.refused = append(s.refused, candidate)
			return
		}
	}
	s.keep(candidate, ask)
}

// settle keeps near-doubles, never exact ones, when nothing else is left: a query
// that is close to another one still finds other pages, and a research without its
// queries finds none.
func (s *selection[T]) settle() {
	for _, candidate := range s.refused {
		if s.missing() == 0 {
			return
		}
		ask := lexis.NewAsk(s.textOf(candidate))
		exact := false
		for _, known := range s.known {
			exact = exact || known.Equal(ask)
		}
		if !exact {
			s.keep(candidate, ask)
		}
	}
}

func (s *selection[T]) keep(candidate T, ask lexis.Ask) {
	s.known = append(s.known, ask)
	s.kept = append(s.kept, candidate)
}

func texts[T any](items []T, textOf func(T) string) []string {
	list := make([]string, 0, len(items))
	for _, item := range items {
		list = append(list, textOf(item))
	}
	return list
}

// tidy makes one line of text, without list marks and quotes around it.
func tidy(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	text = strings.TrimLeft(text, "-*•· ")
	if len(text) > 1 && strings.HasPrefix(text, `"`) && strings.HasSuffix(text, `"`) && strings.Count(text, `"`) == 2 {
		text = strings.Trim(text, `"`)
	}
	return strings.TrimSpace(text)
}

func usable(text string, most int) bool {
	return text != "" && utf8.RuneCountInString(text) <= most
}
