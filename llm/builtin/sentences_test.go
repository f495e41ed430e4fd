package builtin

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSentences(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"abbreviations": {
			"Dr. Smith met J. R. Brown of the U.S. Army on Jan. 5. They spoke, e.g. about money. See Fig. 3 of Jones et al. (2019).",
			[]string{"Dr. Smith met J. R. Brown of the U.S. Army on Jan. 5.", "They spoke, e.g. about money.", "See Fig. 3 of Jones et al. (2019)."},
		},
		"figures": {
			"It opened in 2012. Will it pay? It cost 4.5%. “No,” she said.",
			[]string{"It opened in 2012.", "Will it pay?", "It cost 4.5%.", "“No,” she said."},
		},
		"quotations": {
			"“I can’t believe it.” He left. \"Yes!\" she cried.",
			[]string{"“I can’t believe it.”", "He left.", "\"Yes!\" she cried."},
		},
		"none":  {"", nil},
		"blank": {" \n\t ", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, sp := range newLexer(true).sentences(test.text) {
				got = append(got, test.text[sp.start:sp.end])
			}
			require.Equal(t, test.want, got)
		})
	}
}

func TestLeansBack(t *testing.T) {
	t.Parallel()
	for claim, want := range map[string]bool{
		"He said that it was late.":                      true,
		"However, the bridge was closed.":                true,
		"This was denied by the company.":                true,
		"Their report came in May.":                      true,
		"But she won the race.":                          true,
		"The bridge was closed.":                         false,
		"It is not clear whether the bridge was closed.": false,
		"This study found no effect on growth.":          false,
		"Hers is a novel by Ann Reed.":                   true,
		"Italy closed the bridge.":                       false,
	} {
		require.Equal(t, want, leansBack(claim), claim)
	}
}

func TestFurniture(t *testing.T) {
	t.Parallel()
	for claim, want := range map[string]bool{
		"Sign up for our newsletter to get the best stories.":            true,
		"We and our 842 partners store and access information on you.":   true,
		"Copyright 2020 Example Ltd. All rights reserved.":               true,
		"Click here to view the gallery.":                                true,
		"Home | News | Sport | Opinion":                                  true,
		"The company's cookies sold well in Canada in the last quarter.": false,
		"The tunnel was opened in 2012 by the mayor of Eastmere.":        false,
	} {
		require.Equal(t, want, furniture(claim), claim)
	}
}

func TestPlainAndEscape(t *testing.T) {
	t.Parallel()
	require.Equal(t, "A bold claim with a link and code.", plain("A **bold** _claim_ with a [link](https://a.example/x_(y)) and `code`[3]."))
	require.Equal(t, "snake_case stays", plain("snake_case stays"))
	require.Equal(t, `a \[1\] \*b\* \<c>`, escape("a [1] *b* <c>"))
	require.Equal(t, `\# no heading`, escape("# no heading"))
	require.Equal(t, `1\. no list`, escape("1. no list"))
	require.Equal(t, "14.9% grew", escape("14.9% grew"))
	require.Equal(t, `\- no item`, escape("- no item"))
	require.Equal(t, "one line", escape("one\n line"))
}
