package reporter

import (
	"cmp"
	"math"
	"slices"

	"github.com/fathom-research/fathom/llm/lexis"
	"github.com/fathom-research/fathom/services/reporter/internal/evidence"
	"github.com/fathom-research/fathom/services/reporter/internal/prompt"
)

// mostPieces bounds the evidence of one section: more than this is not read with care.
const mostPieces = 60

// assign gives each piece of evidence to the one section that it fits best, so that
// sections written side by side do not tell the same, the best pieces first.
func assign(plan []prompt.Heading, items []evidence.Item) [][]evidence.Item {
	topics := make([]map[string]bool, len(plan))
	for i, section := range plan {
		topics[i] = lexis.Content(section.Heading + " " + section.Focus)
	}
	rarity := rarityOf(items)
	shares := make([][]evidence.Item, len(plan))
	fits := make(map[int]float64, len(items))
	for _, item := range items {
		own := lexis.Content(item.Query.GetText() + " " + item.Query.GetObjective())
		best, most := 0, -1.0
		for i, topic := range topics {
			// What was looked for tells less about a piece than what it says.
			score := overlap(topic, item.Content, rarity) + 0.3*overlap(topic, own, rarity)
			if score > most {
				best, most = i, score
			}
		}
		fits[item.Number] = most + item.Extraction.GetRelevance()
		shares[best] = append(shares[best], item)
	}
	for i := range shares {
		slices.SortStableFunc(shares[i], func(a, b evidence.Item) int { return cmp.Compare(fits[b.Number], fits[a.Number]) })
		shares[i] = shares[i][:min(len(shares[i]), mostPieces)]
	}
	return shares
}

// rarityOf weighs a stem by how few pieces have it.
func rarityOf(items []evidence.Item) func(stem string) float64 {
	counts := make(map[string]int)
	for _, item := range items {
		for stem := range item.Content {
			counts[stem]++
		}
	}
	return func(stem string) float64 {
		return math.Log(1 + float64(len(items))/float64(1+counts[stem]))
	}
}

func overlap(topic, content map[string]bool, rarity func(string) float64) float64 {
	total, common := 0.0, 0.0
	for stem := range topic {
		weight := rarity(stem)
		total += weight
		if content[stem] {
			common += weight
		}
	}
	if total == 0 {
		return 0
	}
	return common / total
}

// withEvidence leaves out the sections for which there is none.
func withEvidence(plan []prompt.Heading, shares [][]evidence.Item) ([]prompt.Heading, [][]evidence.Item) {
	var kept []prompt.Heading
	var theirs [][]evidence.Item
	for i, share := range shares {
		if len(share) > 0 {
			kept = append(kept, plan[i])
			theirs = append(theirs, share)
		}
	}
	return kept, theirs
}

// spread orders evidence so that a part of it shows the whole: the best piece of
// each query first, then the second of each.
func spread(items []evidence.Item) []evidence.Item {
	var order []string
	byQuery := make(map[string][]evidence.Item)
	for _, item := range items {
		id := item.Query.GetQueryId()
		if byQuery[id] == nil {
			order = append(order, id)
		}
		byQuery[id] = append(byQuery[id], item)
	}
	for _, id := range order {
		slices.SortStableFunc(byQuery[id], func(a, b evidence.Item) int {
			return cmp.Compare(b.Extraction.GetRelevance(), a.Extraction.GetRelevance())
		})
	}
	spread := make([]evidence.Item, 0, len(items))
	for round := 0; len(spread) < len(items); round++ {
		for _, id := range order {
			if round < len(byQuery[id]) {
				spread = append(spread, byQuery[id][round])
			}
		}
	}
	return spread
}
