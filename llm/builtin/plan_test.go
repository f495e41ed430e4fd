package builtin

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

var prompts = []string{
	"Compare Postgres and MySQL for write-heavy workloads",
	"What is blanching?",
	"Zero-dimensional biomaterials show inductive properties.",
	"What were the economic effects of the 2008 financial crisis on Greece, and how did Germany respond?",
	"Welche Folgen hatte die Finanzkrise 2008 für Griechenland?",
	"2008年の金融危機はギリシャにどのような影響を与えましたか。",
	"x", "?", "😀", "the of and", " ", strings.Repeat("word ", 8000),
}

func TestQuestionsAreExactlyNAndDistinct(t *testing.T) {
	t.Parallel()
	for _, prompt := range prompts {
		for _, n := range []int{0, 1, 3, 7, 20, 40} {
			requireQuestions(t, prompt, n)
		}
	}
}

func requireQuestions(t require.TestingT, prompt string, n int) {
	questions := Questions(prompt, n)
	require.Len(t, questions, n)
	seen := map[string]bool{}
	for _, question := range questions {
		require.True(t, strings.HasSuffix(question, "?"), question)
		require.True(t, utf8.ValidString(question))
		require.False(t, seen[fold(question)], question)
		seen[fold(question)] = true
	}
}

func TestQuestionsNameWhatThePromptNames(t *testing.T) {
	t.Parallel()
	questions := Questions("Compare Postgres and MySQL for write-heavy workloads", 5)
	for _, question := range questions {
		require.Contains(t, question, "Postgres", question)
	}
	require.Contains(t, questions[0], "MySQL")
}

func TestQuestionsAskOnlyWhatIsOpen(t *testing.T) {
	t.Parallel()
	for _, question := range Questions("How did inflation in Canada develop between 2019 and 2023?", 20) {
		require.NotContains(t, question, "Which period")
		require.NotContains(t, question, "Which countries")
	}
}

func TestRootQueriesTakeOtherFacets(t *testing.T) {
	t.Parallel()
	queries := Queries(&workv1.QueriesTask{
		Prompt:         "What were the economic effects of the 2008 financial crisis on Greece, and how did Germany respond?",
		Clarifications: []*workv1.Clarification{{Question: "Which sector?", Answer: "shipping and tourism"}, {Question: "Anything else?", Answer: "no preference"}},
		N:              6,
	})
	texts := requireQueries(t, queries, 6)
	all := strings.Join(texts, "\n")
	for _, facet := range []string{"Greece", "Germany", "financial crisis", "shipping", "2008"} {
		require.Contains(t, all, facet)
	}
	require.NotContains(t, all, "preference")
	require.Contains(t, queries[1].GetObjective(), "shipping and tourism")
}

func TestChildrenPairOpenFacetsWithFindings(t *testing.T) {
	t.Parallel()
	chain := []*workv1.ChainLink{{
		Query: "Thumb Wrestling Federation network founded", Objective: "Find an answer.",
		Extractions: []*workv1.Extraction{
			{Claim: "Thumb Wrestling Federation aired on Cartoon Network in the United States.", Url: "https://a.example/", Relevance: 0.8},
			{Claim: "The series was also shown in Canada.", Url: "https://b.example/", Relevance: 0.2},
		},
	}}
	queries := Queries(&workv1.QueriesTask{Prompt: "Thumb Wrestling Federation is on a network founded by who?", Chain: chain, N: 3})
	texts := requireQueries(t, queries, 3)
	require.Contains(t, strings.Join(texts, "\n"), "Cartoon Network")
	require.Contains(t, strings.Join(texts, "\n"), "founded")
}

func requireQueries(t require.TestingT, queries []*workv1.PlannedQuery, n int) []string {
	require.Len(t, queries, n)
	seen := map[string]bool{}
	var texts []string
	for _, query := range queries {
		require.NotEmpty(t, strings.TrimSpace(query.GetText()))
		require.NotEmpty(t, strings.TrimSpace(query.GetObjective()))
		require.True(t, utf8.ValidString(query.GetText()) && utf8.ValidString(query.GetObjective()))
		require.False(t, seen[fold(query.GetText())], query.GetText())
		seen[fold(query.GetText())] = true
		texts = append(texts, query.GetText())
	}
	return texts
}

// TestQueriesWholeTree plans a tree of three levels as a research does and holds
// that no query repeats another of it.
func TestQueriesWholeTree(t *testing.T) {
	t.Parallel()
	for _, prompt := range prompts {
		var taken []string
		level := [][]*workv1.ChainLink{nil}
		for _, n := range []int{5, 3, 2} {
			var next [][]*workv1.ChainLink
			for _, chain := range level {
				queries := Queries(&workv1.QueriesTask{Prompt: prompt, Chain: chain, N: int32(n), Taken: taken})
				for _, text := range requireQueries(t, queries, n) {
					for _, known := range taken {
						require.NotEqual(t, fold(known), fold(text))
					}
				}
				for _, query := range queries {
					taken = append(taken, query.GetText())
					next = append(next, append(append([]*workv1.ChainLink{}, chain...), &workv1.ChainLink{
						Query: query.GetText(), Objective: query.GetObjective(),
						Extractions: []*workv1.Extraction{{Claim: "Athens Bank lost 4 billion euro in 2009 under George Markou.", Url: "https://c.example/", Relevance: 0.5}},
					}))
				}
			}
			level = next
		}
	}
}

func TestQueriesManyAtOnce(t *testing.T) {
	t.Parallel()
	for _, prompt := range prompts {
		queries := Queries(&workv1.QueriesTask{Prompt: prompt, N: 120})
		lex := newLexer(true)
		texts := requireQueries(t, queries, 120)
		for i := range texts {
			for j := range i {
				require.Less(t, lex.set(texts[i]).jaccard(lex.set(texts[j])), 1.0, "%q and %q", texts[i], texts[j])
			}
		}
	}
}

func TestPlanningIsDeterministic(t *testing.T) {
	t.Parallel()
	for _, prompt := range prompts {
		require.Equal(t, Questions(prompt, 12), Questions(prompt, 12))
		task := &workv1.QueriesTask{Prompt: prompt, N: 15}
		require.Equal(t, requireQueries(t, Queries(task), 15), requireQueries(t, Queries(task), 15))
	}
}

func TestPlanningHoldsForAnyPrompt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		prompt := rapid.String().Draw(t, "prompt")
		n := rapid.IntRange(1, 20).Draw(t, "n")
		requireQuestions(t, prompt, n)
		task := &workv1.QueriesTask{
			Prompt: prompt, N: int32(n),
			Taken:          rapid.SliceOfN(rapid.String(), 0, 5).Draw(t, "taken"),
			Clarifications: []*workv1.Clarification{{Answer: rapid.String().Draw(t, "answer")}},
		}
		if rapid.Bool().Draw(t, "child") {
			task.Chain = []*workv1.ChainLink{{
				Query:       rapid.String().Draw(t, "parent"),
				Extractions: []*workv1.Extraction{{Claim: rapid.String().Draw(t, "claim"), Url: "https://a.example/", Relevance: 0.5}},
			}}
		}
		requireQueries(t, Queries(task), n)
	})
}

func FuzzQuestions(f *testing.F) {
	for _, prompt := range prompts {
		f.Add(cut(prompt, 200))
	}
	f.Fuzz(func(t *testing.T, prompt string) {
		requireQuestions(t, prompt, 12)
	})
}
