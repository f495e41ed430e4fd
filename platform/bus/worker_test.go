package bus_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/bus"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

func TestResultIsPublishedAndTaskAcked(t *testing.T) {
	t.Parallel()
	f := setup(t)
	results := f.results()
	f.work(bus.Worker{Handle: func(_ context.Context, task *workv1.Task) (*workv1.Result, error) {
		return found(task.GetSearch().GetQuery()), nil
	}})
	f.publish(search("t1"))

	result := receive(t, results)
	require.Equal(t, "r1", result.GetResearchId())
	require.Equal(t, "t1", result.GetTaskId())
	require.Equal(t, "default", result.GetTenant())
	require.Equal(t, "search", result.GetKind())
	require.EqualValues(t, 2, result.GetAttempt())
	require.EqualValues(t, 1, result.GetDelivery())
	require.NotEmpty(t, result.GetWorker())
	require.False(t, result.GetFinishedAt().AsTime().Before(result.GetStartedAt().AsTime()))
	require.Equal(t, "https://example.org/what t1", result.GetSearch().GetHits()[0].GetUrl())
	f.eventuallyEmpty("TASKS")
	f.eventuallyEmpty("RESULTS")
}
