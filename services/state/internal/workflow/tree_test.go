package workflow_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

func TestTreeSize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		depth, breadth int
		want           string
	}{
		{1, 1, "1"},
		{2, 3, "9"},
		{3, 4, "20"},
		{5, 5, "110"},
		{1, 1000, "1000"},
		{10, 100, "422630100"},
		{math.MaxInt32, 1, "2147483647"},
		{math.MaxInt32, 2, "4294967294"},
		{0, 5, "0"},
		{5, 0, "0"},
	} {
		require.Equal(t, c.want, workflow.TreeSize(c.depth, c.breadth).String(), "depth %d breadth %d", c.depth, c.breadth)
	}
	require.Positive(t, workflow.TreeSize(math.MaxInt32, math.MaxInt32).Sign())
}

func TestChildrenIsHalfRoundedUp(t *testing.T) {
	t.Parallel()
	for breadth, want := range map[int]int{1: 1, 2: 1, 3: 2, 4: 2, 5: 3, 6: 3, math.MaxInt: math.MaxInt/2 + 1} {
		require.Equal(t, want, workflow.Children(breadth))
	}
}

func TestEstimate(t *testing.T) {
	t.Parallel()
	require.Equal(t, workflow.Work{Queries: 20, Pages: 140, Plans: 13, Analyses: 140, ModelCalls: 154}, workflow.Estimate(3, 4, 7))
	require.Equal(t, workflow.Work{Queries: 110, Pages: 770, Plans: 81, Analyses: 770, ModelCalls: 852}, workflow.Estimate(5, 5, 7))
}
