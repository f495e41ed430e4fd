package gateway_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/testkit/apidoc"
)

func TestTheExamplesOfTheDocumentWork(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	output := apidoc.Run(t, "../../docs/api.md", b.url)
	for _, want := range []string{
		"followup_questions", "planned_queries", "event: research.completed", "# Findings", `"researches"`,
		"Initial prompt cannot be empty", "Number of questions must be a positive integer", "the research has ended",
	} {
		require.Contains(t, output, want)
	}
	require.Empty(t, b.state.order, "the session cleans up")
}
