package stack

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/testkit/apidoc"
)

// What docs/api.md tells people to type works against the whole system.
func TestDocumentedRequestsWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, latencies{})

	output := apidoc.Run(t, "../../../../docs/api.md", w.url)

	require.Contains(t, output, `"status":"completed"`)
}
