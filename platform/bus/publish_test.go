package bus_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

func TestTheSameDeliveryIsPublishedOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.publish(search("t1"))
	f.publish(search("t1"))
	require.EqualValues(t, 1, f.queued("TASKS"))
	again := search("t1")
	again.Delivery++
	f.publish(again)
	require.EqualValues(t, 2, f.queued("TASKS"))
}

func TestPublishRefusesWhatHasNoSubject(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, task := range []*workv1.Task{
		{ResearchId: "r1", TaskId: "t1"},
		{ResearchId: "", TaskId: "t1", Payload: search("").GetPayload()},
		{ResearchId: "r.1", TaskId: "t1", Payload: &workv1.Task_Search{}},
		{ResearchId: "r1", TaskId: ">", Payload: &workv1.Task_Search{}},
	} {
		require.Error(t, f.PublishTask(f.ctx, task))
	}
}

func TestProvisionIsIdempotent(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.publish(search("t1"))
	require.NoError(t, f.Provision(f.ctx))
	require.NoError(t, f.another().Provision(f.ctx))
	require.EqualValues(t, 1, f.queued("TASKS"))
}
