package verify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/reporter/internal/evidence"
	"github.com/fathom-research/fathom/services/reporter/internal/verify"
)

func material() *evidence.Set {
	return evidence.Collect([]*workv1.ReportQuery{{QueryId: "q", Extractions: []*workv1.Extraction{
		{Claim: "Battery pack prices fell 14% to $139 per kWh in 2023, BloombergNEF reported.", Quote: "Prices fell 14% to $139/kWh in 2023.", Url: "https://a.example/"},
		{Claim: "The European Union approved the battery regulation in July 2023.", Quote: "The regulation was approved in July 2023.", Url: "https://b.example/"},
		{Claim: "The trial did not reduce mortality among patients.", Quote: "It did not reduce mortality.", Url: "https://c.example/"},
		{Claim: "Sodium-ion batteries are cheaper to make than lithium-ion ones.", Quote: "Sodium-ion cells are cheaper.", Url: "https://d.example/"},
	}}}, 0)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	set := material()
	cases := map[string]struct {
		sentence string
		cited    []int
		problem  string
	}{
		"verbatim":            {"Prices fell 14% to $139/kWh in 2023.", []int{1}, ""},
		"paraphrase":          {"In 2023, BloombergNEF reported that prices for battery packs had fallen by 14% to $139 per kWh.", []int{1}, ""},
		"acronym":             {"The EU approved its battery regulation in July 2023.", []int{2}, ""},
		"denial kept":         {"Mortality was not reduced in the trial's patients.", []int{3}, ""},
		"two pieces":          {"Battery pack prices fell 14% in 2023, and sodium-ion batteries are cheaper to make than lithium-ion ones.", []int{1, 4}, ""},
		"no evidence":         {"Prices fell 14% to $139/kWh in 2023.", nil, "no evidence"},
		"unknown evidence":    {"Prices fell 14% to $139/kWh in 2023.", []int{99}, "no evidence"},
		"another figure":      {"Prices fell 15% to $139/kWh in 2023.", []int{1}, "15"},
		"another year":        {"The European Union approved the battery regulation in July 2024.", []int{2}, "2024"},
		"another name":        {"The European Union and Norway approved the battery regulation in July 2023.", []int{2}, "norway"},
		"denial lost":         {"The trial did reduce mortality among patients.", []int{3}, "denies"},
		"denial added":        {"The European Union has not approved the battery regulation in July 2023.", []int{2}, "denies"},
		"mostly other words":  {"Batteries will soon conquer households, farms and shipping thanks to generous subsidies.", []int{1, 4}, "only"},
		"figure of another":   {"Sodium-ion batteries are cheaper to make by 14% than lithium-ion ones, whose makers struggle with margins.", []int{4, 2}, "14"},
		"the wrong piece":     {"The European Union approved the battery regulation in July 2023.", []int{4}, "figure"},
		"nothing but fillers": {"This is what it is.", []int{1}, "states nothing"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verdict := verify.Check(c.sentence, set.Of(c.cited))
			require.Equal(t, c.problem == "", verdict.Supported, verdict.Problem)
			if c.problem != "" {
				require.Contains(t, verdict.Problem, c.problem)
				return
			}
			require.Equal(t, c.cited, verdict.By)
		})
	}
}

func TestACitationThatBearsNothingIsLeftOut(t *testing.T) {
	t.Parallel()
	verdict := verify.Check("Prices fell 14% to $139/kWh in 2023.", material().Of([]int{1, 3}))
	require.True(t, verdict.Supported)
	require.Equal(t, []int{1}, verdict.By)
}

func TestARightSentenceWithAWrongNumberGetsTheRightOne(t *testing.T) {
	t.Parallel()
	verdict := verify.Anywhere("The European Union approved the battery regulation in July 2023.", []int{4}, material())
	require.True(t, verdict.Supported)
	require.Equal(t, []int{2}, verdict.By)
}

func TestDouble(t *testing.T) {
	t.Parallel()
	require.True(t, verify.Double("Prices fell 14% in 2023.", "In 2023, prices fell by 14%."))
	require.False(t, verify.Double("Prices fell 14% in 2023.", "Prices fell 14% in 2022."))
	require.False(t, verify.Double("Prices fell.", "Regulation was approved."))
}
