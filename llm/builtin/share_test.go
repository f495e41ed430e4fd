package builtin

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// TestCousinsDiffer plans the children of all queries of a level as if their tasks had
// been made at one moment: each knows its parent's siblings and nothing of their children.
func TestCousinsDiffer(t *testing.T) {
	t.Parallel()
	for _, prompt := range append([]string{"History of message queues", "Compare Kafka and NATS JetStream for delivery guarantees and operations"}, prompts...) {
		for _, same := range []bool{true, false} {
			requireDistinctCousins(t, prompt, same)
		}
	}
}

func requireDistinctCousins(t *testing.T, prompt string, sameFindings bool) {
	var taken []string
	level := [][]*workv1.ChainLink{nil}
	seen := map[string]string{}
	for _, n := range []int{5, 3, 2, 1} {
		known := append([]string{}, taken...)
		var next [][]*workv1.ChainLink
		for at, chain := range level {
			for _, query := range Queries(&workv1.QueriesTask{Prompt: prompt, Chain: chain, N: int32(n), Taken: known}) {
				key := fold(query.GetText())
				require.NotContains(t, seen, key, "%q: child of parent %d", prompt, at)
				seen[key] = query.GetObjective()
				taken = append(taken, query.GetText())
				bank := "Athens"
				if !sameFindings {
					bank = fmt.Sprintf("Athens Line%c", 'A'+len(taken)%26)
				}
				next = append(next, append(append([]*workv1.ChainLink{}, chain...), &workv1.ChainLink{
					Query: query.GetText(), Objective: query.GetObjective(),
					Extractions: []*workv1.Extraction{
						{Claim: bank + " Bank lost 4 billion euro in 2009 under George Markou.", Url: "https://c.example/", Relevance: 0.5},
						{Claim: "The Port of Piraeus was sold to Cosco Shipping.", Url: "https://d.example/", Relevance: 0.4},
					},
				}))
			}
		}
		require.Len(t, next, len(level)*n)
		level = next
	}
}

func TestSharesPartWhatCanBeAsked(t *testing.T) {
	t.Parallel()
	parents := []string{"ferries of Piraeus", "Ferries  of piraeus ", "banks of Athens", "tourism on Crete"}
	owners := map[int]int{}
	for i := range 300 {
		terms := newTermSet([]string{fmt.Sprint("term", i), "greece"})
		for at, parent := range []string{parents[0], parents[2], parents[3]} {
			if newShare(parent, parents).has(terms) {
				owners[i]++
				require.Less(t, at, 3)
			}
		}
		require.Equal(t, 1, owners[i], "term %d", i)
	}
}
