package builtin

// relevanceShare is how much maximal marginal relevance (Carbonell and
// Goldstein, 1998) looks at relevance, and not at being different.
const relevanceShare = 0.7

// marginal picks up to most of the items, each time the one that is most
// relevant and least like those already picked. Scores are to be within 0 and 1.
func marginal(count, most int, score func(i int) float64, similar func(i, j int) float64) []int {
	picked := make([]int, 0, min(count, most))
	nearest := make([]float64, count)
	used := make([]bool, count)
	for len(picked) < most {
		best, bestValue := -1, 0.0
		for i := range count {
			if used[i] {
				continue
			}
			value := relevanceShare*score(i) - (1-relevanceShare)*nearest[i]
			if best < 0 || value > bestValue {
				best, bestValue = i, value
			}
		}
		if best < 0 {
			break
		}
		used[best] = true
		picked = append(picked, best)
		for i := range count {
			if !used[i] {
				nearest[i] = max(nearest[i], similar(i, best))
			}
		}
	}
	return picked
}
