// Package verify decides whether evidence bears a sentence out. It compares words,
// figures, names and denials: it can't tell that a paraphrase is right, but what it
// lets pass says nothing that is not in the evidence.
package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fathom-research/fathom/llm/lexis"
	"github.com/fathom-research/fathom/services/reporter/internal/evidence"
)

const (
	// wanted is the share of a sentence's words that its evidence must have.
	wanted = 0.62
	// share is what one piece of evidence must have for it to be cited.
	share = 0.3
)

// Verdict is what became of a check.
type Verdict struct {
	Supported bool
	// By are the numbers of the evidence that bears the sentence out.
	By []int
	// Problem says what is not supported, for whoever rewrites the sentence.
	Problem string
}

// Check tells whether the cited evidence bears sentence out.
func Check(sentence string, cited []evidence.Item) Verdict {
	if len(cited) == 0 {
		return Verdict{Problem: "no evidence is cited"}
	}
	content := lexis.Content(sentence)
	if len(content) == 0 {
		return Verdict{Problem: "the sentence states nothing"}
	}
	together, figures := union(cited)
	for figure := range lexis.Figures(sentence) {
		if !figures[figure] {
			return Verdict{Problem: fmt.Sprintf("the figure %s is not in its evidence", figure)}
		}
		if !besideIt(figure, content, cited) {
			return Verdict{Problem: fmt.Sprintf("the figure %s is in evidence about something else", figure)}
		}
	}
	for name := range lexis.Names(sentence) {
		if !together[name] {
			return Verdict{Problem: fmt.Sprintf("the name %q is not in its evidence", name)}
		}
	}
	if coverage := lexis.Coverage(content, together); coverage < wanted {
		return Verdict{Problem: fmt.Sprintf("only %.0f %% of its words are in its evidence", coverage*100)}
	}
	denial := denialOf(sentence, content, cited)
	if denial != "" {
		return Verdict{Problem: denial}
	}
	return Verdict{Supported: true, By: bearing(content, cited)}
}

func union(cited []evidence.Item) (map[string]bool, map[string]bool) {
	content, figures := make(map[string]bool), make(map[string]bool)
	for _, item := range cited {
		for stem := range item.Content {
			content[stem] = true
		}
		for figure := range item.Figures {
			figures[figure] = true
		}
	}
	return content, figures
}

// besideIt reports whether a piece of evidence that has the figure is about the same
// thing as the sentence.
func besideIt(figure string, content map[string]bool, cited []evidence.Item) bool {
	return slices.ContainsFunc(cited, func(item evidence.Item) bool {
		return item.Figures[figure] && lexis.Coverage(content, item.Content) >= share
	})
}

// denialOf finds a word that the sentence denies and the evidence states, or the
// other way round.
func denialOf(sentence string, content map[string]bool, cited []evidence.Item) string {
	denied := lexis.Denied(sentence)
	for stem := range denied {
		if stated(stem, cited) && !deniedBy(stem, cited) {
			return fmt.Sprintf("it denies %q, which its evidence states", stem)
		}
	}
	for stem := range content {
		if !denied[stem] && deniedBy(stem, cited) && !stated(stem, cited) {
			return fmt.Sprintf("it states %q, which its evidence denies", stem)
		}
	}
	return ""
}

func stated(stem string, cited []evidence.Item) bool {
	return slices.ContainsFunc(cited, func(item evidence.Item) bool { return item.Stated[stem] && !item.Denied[stem] })
}

func deniedBy(stem string, cited []evidence.Item) bool {
	return slices.ContainsFunc(cited, func(item evidence.Item) bool { return item.Denied[stem] })
}

// bearing are the pieces that carry enough of the sentence to be cited for it.
func bearing(content map[string]bool, cited []evidence.Item) []int {
	var by []int
	best, most := 0, -1.0
	for _, item := range cited {
		coverage := lexis.Coverage(content, item.Content)
		if coverage >= share {
			by = append(by, item.Number)
		}
		if coverage > most {
			best, most = item.Number, coverage
		}
	}
	if len(by) == 0 {
		by = append(by, best)
	}
	slices.Sort(by)
	return slices.Compact(by)
}

// Nearest are the pieces of the set that have most of the sentence's words.
func Nearest(sentence string, set *evidence.Set, most int) []evidence.Item {
	content := lexis.Content(sentence)
	type scored struct {
		item     evidence.Item
		coverage float64
	}
	var list []scored
	for _, item := range set.Items() {
		coverage := lexis.Coverage(content, item.Content)
		if coverage >= share {
			list = append(list, scored{item, coverage})
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int {
		switch {
		case a.coverage > b.coverage:
			return -1
		case a.coverage < b.coverage:
			return 1
		default:
			return 0
		}
	})
	var items []evidence.Item
	for _, one := range list[:min(most, len(list))] {
		items = append(items, one.item)
	}
	return items
}

// reattributed is how many other pieces are tried for a sentence whose own citations
// do not bear it out.
const reattributed = 3

// Anywhere checks the sentence against what it cites and then, one by one, against
// the pieces that are nearest to it: a right sentence with a wrong number is kept,
// with the right one.
func Anywhere(sentence string, cited []int, set *evidence.Set) Verdict {
	verdict := Check(sentence, set.Of(cited))
	if verdict.Supported {
		return verdict
	}
	for _, item := range Nearest(sentence, set, reattributed) {
		other := Check(sentence, []evidence.Item{item})
		if other.Supported {
			return other
		}
	}
	return verdict
}

// Double reports whether two sentences say the same.
func Double(a, b string) bool {
	const double = 0.85
	if strings.EqualFold(a, b) {
		return true
	}
	first, second := lexis.Figures(a), lexis.Figures(b)
	if len(first)+len(second) > 0 && lexis.Similarity(first, second) < 1 {
		return false
	}
	return lexis.Similarity(lexis.Content(a), lexis.Content(b)) >= double
}
