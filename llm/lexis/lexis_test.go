package lexis_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/llm/lexis"
)

func keys(words ...string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range words {
		set[word] = true
	}
	return set
}

func TestContent(t *testing.T) {
	t.Parallel()
	require.Equal(t, keys("batteri", "cost", "139", "kwh", "2023"), lexis.Content("In 2023, batteries' costs were about 139 kWh."))
	require.Equal(t, keys("US", "economi"), lexis.Content("the U.S. economy"))
	require.Equal(t, keys("US"), lexis.Content("US"))
	require.Equal(t, keys("20", "gb"), lexis.Content("20GB"))
	require.Equal(t, keys("größe", "straße"), lexis.Content("Größe Straße"))
	require.Equal(t, keys("東", "京"), lexis.Content("東京"))
}

func TestFigures(t *testing.T) {
	t.Parallel()
	cases := map[string]map[string]bool{
		"1,234,567 people":       keys("1234567"),
		"3.50 or 3,5":            keys("3.5"),
		"three of 0.70":          keys("3", "0.7"),
		"the 1990s and 21st":     keys("1990", "21"),
		"on 5.":                  keys("5"),
		"nothing here but words": {},
	}
	for text, want := range cases {
		require.Equal(t, want, lexis.Figures(text), text)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	require.Equal(t, keys("tim", "cook", "appl"), lexis.Names("Tim Cook leads Apple. Prices rose."))
}

func TestDenied(t *testing.T) {
	t.Parallel()
	require.Equal(t, keys("caus"), lexis.Denied("It does not cause cancer."))
	require.Equal(t, keys("effect"), lexis.Denied("There was no effect. Cost rose."))
	require.Empty(t, lexis.Denied("It not only works, it is no doubt fast."))
	require.Equal(t, keys("approv"), lexis.Denied("The drug wasn’t approved"))
}

func TestAcronymsOfNamesCount(t *testing.T) {
	t.Parallel()
	set := lexis.ContentWithAcronyms("the European Union and the Bank of England")
	require.True(t, set["eu"])
	require.True(t, set["be"] || set["BE"])
}

func TestAskSame(t *testing.T) {
	t.Parallel()
	cases := []struct {
		a, b string
		same bool
	}{
		{"history of the Roman army", "Roman army history", true},
		{"solar panel costs", "Solar Panels Cost", true},
		{"GDP of France 2022", "GDP of France 2023", false},
		{"lithium battery recycling rate", "lithium battery recycling cost", false},
		{"of the", "OF  the", true},
		{"electric car battery recycling methods Europe", "methods for recycling electric car batteries in Europe today", true},
	}
	for _, c := range cases {
		require.Equal(t, c.same, lexis.NewAsk(c.a).Same(lexis.NewAsk(c.b)), "%q and %q", c.a, c.b)
	}
}
