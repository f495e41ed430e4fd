package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	"github.com/fathom-research/fathom/services/state/internal/engine"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

func (w *world) errorOutput(t testing.TB, id string) string {
	t.Helper()
	markdown, err := w.store.ErrorOutput(t.Context(), tenant, id)
	require.NoError(t, err)
	return markdown
}

func TestFailedSearchStoresErrorOutputAndHasChildren(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id, searches := w.planned(t, func(breadth int) string { return w.running(t, 2, breadth) }, 2)
	w.apply(t, found(searches[0], "https://example.org/good", "https://example.org/bad"))
	for _, task := range w.publish(t) {
		if task.GetScrape().GetUrl() == "https://example.org/bad" {
			w.apply(t, failure(task, fault.Permanent(fault.NotFound, "404")))
			continue
		}
		w.apply(t, page(task, "words"))
	}
	w.apply(t, answer(w.publishOne(t)))
	w.publishOne(t)
	w.apply(t, failure(searches[1], fault.Permanent(fault.Unavailable, "no engine answers")))
	children := w.publishOne(t)
	require.Equal(t, "query.1", children.GetQueries().GetChain()[0].GetQuery(), "its children are made all the same")
	markdown := w.errorOutput(t, id)
	for _, part := range []string{
		"query.1 — failed (unavailable: no engine answers)", "### <https://example.org/good>", "- claim of words",
		"- <https://example.org/bad>: not_found: 404", "Status: running",
	} {
		require.Contains(t, markdown, part)
	}
}

func TestFailedRootPlanEndsTheResearch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id := w.running(t, 2, 3)
	w.apply(t, failure(w.publishOne(t), fault.Permanent(fault.Misconfigured, "no such model")))
	record := w.record(t, id)
	require.Equal(t, workflow.Failed, record.Status)
	require.Equal(t, "no such model", record.ErrorMessage)
	require.Contains(t, w.errorOutput(t, id), "Reason: misconfigured: no such model")
	require.Empty(t, w.publish(t))
}

func TestFailedReportKeepsWhatWasWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id := w.running(t, 1, 3)
	task := w.some(t, bus.Report)[0]
	failed := answer(task)
	failed.GetReport().Markdown = "# Half a report\n"
	failed.Failure = fault.ToProto(fault.Permanent(fault.Unavailable, "the model is gone"))
	require.Equal(t, engine.Failed, w.apply(t, failed))
	record := w.record(t, id)
	require.Equal(t, workflow.Failed, record.Status)
	require.True(t, record.Report.Partial)
	require.Contains(t, w.errorOutput(t, id), "## Partial report\n\n# Half a report")
	requireInvariants(t, w, id)

	status, err := w.engine.Replay(t.Context(), tenant, id, task.GetTaskId())
	require.NoError(t, err)
	require.Equal(t, workflow.Reporting, status)
	w.apply(t, answer(w.publishOne(t)))
	record = w.record(t, id)
	require.Equal(t, workflow.Completed, record.Status)
	require.False(t, record.Report.Partial)
}

func TestResearchThatFoundNothingByFailureIsNoSuccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id, searches := w.planned(t, w.oneLevel(t), 2)
	for _, task := range searches {
		w.apply(t, failure(task, fault.Permanent(fault.RateLimited, "429")))
	}
	report := w.publishOne(t)
	require.Equal(t, []string{"2 of 2 queries could not be processed.", "No search found a page."}, report.GetReport().GetNotes())
	w.apply(t, answer(report))
	record := w.record(t, id)
	require.Equal(t, workflow.Failed, record.Status)
	require.Equal(t, string(fault.RateLimited), record.Reason)
	require.NotNil(t, record.Report)
	require.Contains(t, w.errorOutput(t, id), "## Report")
}

func TestEmptySearchesAreNoFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id, searches := w.planned(t, w.oneLevel(t), 1)
	w.apply(t, found(searches[0]))
	w.apply(t, answer(w.publishOne(t)))
	record := w.record(t, id)
	require.Equal(t, workflow.Completed, record.Status)
	require.Equal(t, string(fault.Empty), record.Queries[0].Reason)
	_, err := w.store.ErrorOutput(t.Context(), tenant, id)
	require.ErrorIs(t, err, store.ErrNotFound)
}

func TestReplay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	var conflict *engine.ConflictError

	t.Run("questions", func(t *testing.T) {
		id := w.create(t)
		task := w.publishOne(t)
		w.apply(t, failure(task, fault.Permanent(fault.Internal, "a bug")))
		_, err := w.engine.Replay(t.Context(), tenant, id, task.GetTaskId())
		require.NoError(t, err)
		w.apply(t, answer(w.publishOne(t)))
		require.Equal(t, workflow.Ready, w.status(t, id))
	})
	t.Run("root plan", func(t *testing.T) {
		id := w.running(t, 1, 2)
		task := w.publishOne(t)
		w.apply(t, failure(task, fault.Permanent(fault.Internal, "a bug")))
		_, err := w.engine.Replay(t.Context(), tenant, id, task.GetTaskId())
		require.NoError(t, err)
		w.finish(t, id)
		requireOutcome(t, w, id, 1, 2)
	})
	t.Run("expansion", func(t *testing.T) {
		id, searches := w.planned(t, func(breadth int) string { return w.running(t, 2, breadth) }, 2)
		w.apply(t, found(searches[0]))
		task := w.publishOne(t)
		w.apply(t, failure(task, fault.Permanent(fault.Internal, "a bug")))
		_, err := w.engine.Replay(t.Context(), tenant, id, task.GetTaskId())
		require.NoError(t, err)
		again := w.publishOne(t)
		require.Equal(t, task.GetTaskId(), again.GetTaskId())
		require.Equal(t, int32(1), again.GetAttempt())
		w.apply(t, found(searches[1]))
		for _, open := range append(w.publish(t), again) {
			w.apply(t, answer(open))
		}
		w.finish(t, id)
		require.Len(t, w.record(t, id).Queries, 4)
		requireInvariants(t, w, id)
	})
	t.Run("no longer awaited", func(t *testing.T) {
		id, searches := w.planned(t, w.oneLevel(t), 1)
		w.apply(t, failure(searches[0], fault.Permanent(fault.Internal, "a bug")))
		_, err := w.engine.Replay(t.Context(), tenant, id, searches[0].GetTaskId())
		require.ErrorAs(t, err, &conflict)
		w.finish(t, id)
	})
	t.Run("open", func(t *testing.T) {
		id := w.create(t)
		task := w.publishOne(t)
		_, err := w.engine.Replay(t.Context(), tenant, id, task.GetTaskId())
		require.NoError(t, err)
		require.Equal(t, int32(1), w.publishOne(t).GetDelivery())
	})
}

func TestLostTaskIsPublishedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id := w.create(t)
	first := w.publishOne(t)
	suspects, err := w.store.Suspects(t.Context(), 0, 10)
	require.NoError(t, err)
	require.Len(t, suspects, 1)
	again, err := w.engine.Lost(t.Context(), suspects[0])
	require.NoError(t, err)
	require.True(t, again)
	again, err = w.engine.Lost(t.Context(), suspects[0])
	require.NoError(t, err)
	require.False(t, again, "it moved on")
	second := w.publishOne(t)
	require.Equal(t, int32(1), second.GetDelivery())
	require.Equal(t, int32(0), second.GetAttempt())
	w.apply(t, answer(first))
	require.Equal(t, workflow.Ready, w.status(t, id))
	_, err = w.engine.Lost(t.Context(), store.Task{ID: second.GetTaskId(), ResearchID: store.NewID(), Tenant: tenant})
	require.NoError(t, err, "a deleted research has no lost tasks")
}
