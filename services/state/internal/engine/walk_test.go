package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

func TestResearchRunsToItsReport(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id := w.running(t, 3, 4)
	w.finish(t, id)
	requireOutcome(t, w, id, 3, 4)
	record := w.record(t, id)
	require.Equal(t, workflow.Completed, record.Status)
	require.NotNil(t, record.Report)
	require.False(t, record.Report.Partial)
}
