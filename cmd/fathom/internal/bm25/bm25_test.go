package bm25

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func sample() *Index {
	x := New()
	x.Add("Raft", "A leader is elected by randomized timeouts. The leader replicates its log to followers.")
	x.Add("Tides", "The tide rises twice a day where the moon pulls the sea.")
	x.Add("Elections in Athens", "Citizens of Athens elected their generals by show of hands.")
	x.Add("Bread", "Flour, water and salt; the dough rises for a day.")
	return x
}

func TestTermsAreStemmedWithoutCommonWords(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"leader", "replic", "log", "v1.2", "don't"}, slices.Collect(Terms("The leaders are replicating logs — v1.2; don’t!")))
}

func TestSearchRanks(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		query string
		want  []int
	}{
		"stem and title first": {"electing leaders in Raft", []int{0, 2}},
		"both that match":      {"election", []int{2, 0}},
		"nothing":              {"quantum chromodynamics", nil},
		"common words only":    {"what is the of", nil},
		"empty":                {"", nil},
		"only a common share":  {"day of judgement for zeppelins, quasars and volcanoes", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []int
			for _, hit := range sample().Search(c.query) {
				got = append(got, hit.Document)
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestSnippetTakesTheBestSentences(t *testing.T) {
	t.Parallel()
	text := "Welcome to the page.\nIt has much to say about nothing at all.\nRaft elects a leader by  randomized timeouts. Then it goes on and on."
	x := sample()
	require.Equal(t, "Raft elects a leader by randomized timeouts.", x.Snippet(text, "randomized election timeout", 60))
	require.Empty(t, x.Snippet("", "raft", 60))
	require.Equal(t, "Raft elects a …", x.Snippet("Raft elects a leader", "leader", 15))
	require.Equal(t, "日本 …", x.Snippet("日本語", "x", 7))
}

func TestSearchOfAnEmptyIndex(t *testing.T) {
	t.Parallel()
	require.Empty(t, New().Search("anything"))
}
