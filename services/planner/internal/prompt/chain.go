package prompt

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/fathom-research/fathom/llm"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// chain writes the path from the first query to the parent with what was found. The
// parent's findings have the first claim on the tokens, each ancestor on half of
// what is left; within a query the most relevant come first.
func chain(b *strings.Builder, links []*workv1.ChainLink, tokens int) {
	if len(links) == 0 {
		return
	}
	found := make([][]string, len(links))
	for i := len(links) - 1; i >= 0; i-- {
		share := tokens / 2
		if i == 0 {
			share = tokens
		}
		var used int
		found[i], used = findings(links[i].GetExtractions(), share)
		tokens -= used
	}
	b.WriteString("The path of queries so far, from the first to the one to go deeper from:\n\n")
	for i, link := range links {
		fmt.Fprintf(b, "%d. Query: %s\n   Objective: %s\n", i+1, link.GetQuery(), link.GetObjective())
		if len(found[i]) == 0 {
			b.WriteString("   Nothing was found.\n\n")
			continue
		}
		b.WriteString("   Found:\n" + llm.Fence("findings", strings.Join(found[i], "\n")) + "\n\n")
	}
}

// findings are the claims that fit into tokens, and how many they take.
func findings(extractions []*workv1.Extraction, tokens int) ([]string, int) {
	sorted := slices.Clone(extractions)
	slices.SortStableFunc(sorted, func(a, b *workv1.Extraction) int {
		switch {
		case a.GetRelevance() > b.GetRelevance():
			return -1
		case a.GetRelevance() < b.GetRelevance():
			return 1
		default:
			return 0
		}
	})
	var lines []string
	used := 0
	for _, extraction := range sorted {
		line := "- " + strings.Join(strings.Fields(extraction.GetClaim()), " ") + " (" + source(extraction) + ")"
		cost := llm.EstimateTokens(line) + 1
		if used+cost > tokens {
			continue
		}
		lines = append(lines, line)
		used += cost
	}
	return lines, used
}

// source names where a claim was read, briefly.
func source(extraction *workv1.Extraction) string {
	name := extraction.GetTitle()
	u, err := url.Parse(extraction.GetUrl())
	if err == nil && u.Host != "" {
		name = u.Host
	}
	if published := extraction.GetPublished(); published.IsValid() {
		name += ", " + published.AsTime().Format("2006-01-02")
	}
	return name
}
