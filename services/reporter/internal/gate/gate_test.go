package gate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/reporter/internal/evidence"
	"github.com/fathom-research/fathom/services/reporter/internal/gate"
)

func material() *evidence.Set {
	return evidence.Collect([]*workv1.ReportQuery{{QueryId: "q", Extractions: []*workv1.Extraction{
		{ExtractionId: 11, Claim: "Prices fell 14% in 2023.", Quote: "Prices fell 14% in 2023.", Url: "https://a.example/x_[1]"},
		{ExtractionId: 12, Claim: "Nickel demand rose in Asia.", Quote: "Nickel demand rose in Asia.", Url: "https://b.example/"},
	}}}, 0)
}

func citations() []*workv1.Citation {
	return []*workv1.Citation{
		{Number: 1, Url: "https://a.example/x_[1]", Title: "A", ExtractionIds: []int64{11}},
		{Number: 2, Url: "https://b.example/", Title: "B", ExtractionIds: []int64{12}},
	}
}

func TestAReportThatIsBorneOutStaysAsItIs(t *testing.T) {
	t.Parallel()
	report := &workv1.ReportResult{
		Markdown:  "# T\n\n## Part\n\n- *4 May 2023* — Prices fell 14% in 2023. [1] Nickel demand rose in Asia. [2]\n\n## Sources\n\n[1] A — <https://a.example/x_[1]>\n[2] B — <https://b.example/>\n",
		Citations: citations(),
	}
	require.Same(t, report, gate.Apply(report, material()))
}

func TestWhatIsNotBorneOutIsTakenOutAndTheRestNumberedAnew(t *testing.T) {
	t.Parallel()
	report := &workv1.ReportResult{
		Markdown:  "# T\n\n## Lost\n\n- Prices fell 99% in 2023. [1]\n\n## Kept\n\n- Prices fell 77%. [1] Nickel demand rose in Asia. [2]\n- Unknown source. [7]\n\n## Method\n\nOne search was made.\n\n## Sources\n\n[1] A — <https://a.example/x_[1]>\n[2] B — <https://b.example/>\n",
		Citations: citations(),
		Dropped:   1,
	}
	got := gate.Apply(report, material())
	require.Equal(t, "# T\n\n## Kept\n\n- Nickel demand rose in Asia. [1]\n\n## Method\n\nOne search was made.\n\n## Sources\n\n[1] B — <https://b.example/>\n", got.GetMarkdown())
	require.Equal(t, int32(4), got.GetDropped())
	require.Len(t, got.GetCitations(), 1)
	require.Equal(t, int32(1), got.GetCitations()[0].GetNumber())
	require.Equal(t, "https://b.example/", got.GetCitations()[0].GetUrl())
	require.Len(t, got.GetVerification(), 1)
	require.Equal(t, []int64{12}, got.GetVerification()[0].GetExtractionIds())
}

func TestACitationMayNameTheSecondOfTwoEqualExtractions(t *testing.T) {
	t.Parallel()
	same := func(id int64, claim string) *workv1.Extraction {
		return &workv1.Extraction{ExtractionId: id, Claim: claim, Quote: claim, Url: "https://a.example/"}
	}
	set := evidence.Collect([]*workv1.ReportQuery{
		{QueryId: "q1", Extractions: []*workv1.Extraction{same(1, "Prices fell 14% in 2023."), same(2, "Nickel demand rose in Asia.")}},
		{QueryId: "q2", Extractions: []*workv1.Extraction{same(3, "Prices fell 14% in 2023.")}},
	}, 0)
	report := &workv1.ReportResult{
		Markdown:  "# T\n\nPrices fell 14% in 2023. [1]\n\n## Sources\n\n[1] A — <https://a.example/>\n",
		Citations: []*workv1.Citation{{Number: 1, Url: "https://a.example/", ExtractionIds: []int64{2, 3}}},
	}
	require.Same(t, report, gate.Apply(report, set))
}
