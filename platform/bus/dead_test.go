package bus_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/fathom-research/fathom/platform/bus"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

func TestDeadTasks(t *testing.T) {
	t.Parallel()
	f := setup(t)
	failure := &workv1.Failure{Code: "internal", Message: "it never works"}
	other := search("t2")
	other.ResearchId = "r2"
	big := large(t)
	big.TaskId = "t3"
	for _, task := range []*workv1.Task{search("t1"), other, big} {
		require.NoError(t, f.Bury(f.ctx, task, failure))
		require.NoError(t, f.Bury(f.ctx, task, failure), "said twice, buried once")
	}

	all, err := f.DeadTasks(f.ctx, "")
	require.NoError(t, err)
	require.Len(t, all, 3)
	ofOne, err := f.DeadTasks(f.ctx, "r1")
	require.NoError(t, err)
	require.Len(t, ofOne, 2)
	require.Equal(t, "t1", ofOne[0].TaskID)
	require.True(t, proto.Equal(search("t1"), ofOne[0].Task))
	require.True(t, proto.Equal(failure, ofOne[0].Failure))
	require.False(t, ofOne[0].At.IsZero())
	require.Equal(t, bus.Analyze, ofOne[1].Kind)
	require.True(t, proto.Equal(big, ofOne[1].Task))

	one, err := f.DeadTask(f.ctx, all[1].Sequence)
	require.NoError(t, err)
	require.Equal(t, "r2", one.ResearchID)
	for _, dead := range all {
		require.NoError(t, f.RemoveDeadTask(f.ctx, dead.Sequence))
	}
	require.ErrorIs(t, f.RemoveDeadTask(f.ctx, all[1].Sequence), bus.ErrNoDeadTask)
	_, err = f.DeadTask(f.ctx, all[1].Sequence)
	require.ErrorIs(t, err, bus.ErrNoDeadTask)
	all, err = f.DeadTasks(f.ctx, "")
	require.NoError(t, err)
	require.Empty(t, all)
	_, err = f.blobs().List(f.ctx)
	require.Error(t, err, "no blob is left")

	require.Error(t, f.Bury(f.ctx, &workv1.Task{ResearchId: "r1", TaskId: "t1"}, failure))
	_, err = f.DeadTasks(f.ctx, "*")
	require.Error(t, err)
}
