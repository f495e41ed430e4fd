package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/bus"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/engine"
	"github.com/fathom-research/fathom/services/state/internal/store"
)

func planOf(task *workv1.Task, texts ...string) *workv1.Result {
	result := reply(task)
	body := new(workv1.QueriesResult)
	for _, text := range texts {
		body.Queries = append(body.Queries, &workv1.PlannedQuery{Text: text, Objective: "objective"})
	}
	result.Payload = &workv1.Result_Queries{Queries: body}
	result.Usage = &workv1.Usage{ModelCalls: 1}
	return result
}

func TestPlansOfCousinsAreMadeAnewOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	w.running(t, 2, 4)
	w.apply(t, planOf(w.publishOne(t), "a", "b", "c", "d"))
	for _, search := range w.publish(t) {
		w.apply(t, found(search))
	}
	plans := w.publish(t)
	require.Len(t, plans, 4, "each query without a hit has its children planned")
	w.apply(t, planOf(plans[0], "child one", "child two"))
	require.Len(t, w.publish(t), 2)

	double := planOf(plans[1], " Child  ONE", "child three")
	require.Equal(t, engine.Deferred, w.apply(t, double))
	require.Equal(t, engine.Late, w.apply(t, double))
	again := w.publishOne(t)
	require.Equal(t, bus.Queries, bus.KindOf(again))
	require.Equal(t, plans[1].GetTaskId(), again.GetTaskId())
	require.Zero(t, again.GetAttempt(), "no attempt is used up")
	require.Contains(t, again.GetQueries().GetTaken(), "child one")
	require.Equal(t, engine.Late, w.apply(t, double))
	require.Equal(t, engine.Applied, w.apply(t, planOf(again, "child three", "child four")))
	require.Len(t, w.publish(t), 2)

	// The second plan stands, even when it doubles, too.
	require.Equal(t, engine.Deferred, w.apply(t, planOf(plans[2], "child one", "child two")))
	require.Equal(t, engine.Applied, w.apply(t, planOf(w.publishOne(t), "child one", "child two")))
	require.Len(t, w.publish(t), 2)
}
