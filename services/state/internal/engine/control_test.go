package engine_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/engine"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// some works until a few tasks of the kind are out and returns them unanswered.
func (w *world) some(t testing.TB, kind bus.Kind) []*workv1.Task {
	t.Helper()
	for {
		var wanted []*workv1.Task
		tasks := w.publish(t)
		require.NotEmpty(t, tasks, "no %s task comes", kind)
		for _, task := range tasks {
			if bus.KindOf(task) == kind {
				wanted = append(wanted, task)
				continue
			}
			w.apply(t, answer(task))
		}
		if len(wanted) > 0 {
			return wanted
		}
	}
}

func TestCancelAtAnyMoment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	for _, kind := range []bus.Kind{bus.Queries, bus.Search, bus.Scrape, bus.Analyze, bus.Report} {
		t.Run(string(kind), func(t *testing.T) {
			id := w.running(t, 2, 3)
			open := w.some(t, kind)
			status, err := w.engine.Cancel(t.Context(), tenant, id)
			require.NoError(t, err)
			require.Equal(t, workflow.Cancelled, status)
			for _, task := range open {
				require.Equal(t, engine.Late, w.apply(t, answer(task)))
			}
			require.Empty(t, w.publish(t))
			for name, sql := range invariants {
				if name != "reports missing or doubled" {
					require.Zero(t, w.count(t, sql, id), name)
				}
			}
			again, err := w.engine.Cancel(t.Context(), tenant, id)
			require.NoError(t, err)
			require.Equal(t, workflow.Cancelled, again)
			_, err = w.engine.Resume(t.Context(), tenant, id)
			var conflict *engine.ConflictError
			require.ErrorAs(t, err, &conflict)
		})
	}
}

func TestPausedResearchAppliesResultsAndPublishesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	for _, kind := range []bus.Kind{bus.Queries, bus.Search, bus.Scrape, bus.Analyze, bus.Report} {
		t.Run(string(kind), func(t *testing.T) {
			id := w.running(t, 2, 3)
			open := w.some(t, kind)
			_, err := w.engine.Pause(t.Context(), tenant, id)
			require.NoError(t, err)
			for _, task := range open {
				require.NotEqual(t, engine.Late, w.apply(t, answer(task)))
			}
			require.Empty(t, w.publish(t))
			_, err = w.engine.Resume(t.Context(), tenant, id)
			if kind == bus.Report {
				require.Error(t, err, "its report ended it")
			} else {
				require.NoError(t, err)
			}
			w.finish(t, id)
			requireOutcome(t, w, id, 2, 3)
		})
	}
}

func TestPauseStopsTheDeadlinesClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id := w.running(t, 1, 1)
	before := w.record(t, id).Deadline
	_, err := w.engine.Pause(t.Context(), tenant, id)
	require.NoError(t, err)
	w.backdate(t, id, "paused_at", time.Hour)
	w.backdate(t, id, "deadline", 2*time.Hour)
	late, err := w.store.Overdue(t.Context(), 0, 10)
	require.NoError(t, err)
	require.Empty(t, late)
	_, err = w.engine.Resume(t.Context(), tenant, id)
	require.NoError(t, err)
	require.WithinDuration(t, before.Add(-time.Hour), *w.record(t, id).Deadline, time.Minute)
}

func TestDeadlineReportsWhatThereIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id := w.running(t, 2, 3)
	open := w.some(t, bus.Analyze)
	w.apply(t, answer(open[0]))
	w.backdate(t, id, "deadline", 2*time.Hour)
	late, err := w.store.Overdue(t.Context(), time.Hour, 10)
	require.NoError(t, err)
	require.Equal(t, []store.Reference{{Tenant: tenant, ID: id}}, late)
	require.NoError(t, w.engine.Expire(t.Context(), tenant, id, 2*time.Hour))
	for _, task := range open[1:] {
		require.Equal(t, engine.Late, w.apply(t, answer(task)))
	}
	report := w.publishOne(t)
	require.Contains(t, report.GetReport().GetNotes()[0], "time limit")
	w.apply(t, answer(report))
	record := w.record(t, id)
	require.Equal(t, string(fault.Deadline), record.Reason)
	require.True(t, record.Status.Ended())
	requireInvariants(t, w, id)
}

func TestReportAfterTheDeadlineHasItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id := w.running(t, 1, 1)
	w.some(t, bus.Report)
	w.backdate(t, id, "deadline", 2*time.Hour)
	require.NoError(t, w.engine.Expire(t.Context(), tenant, id, 2*time.Hour))
	require.Equal(t, workflow.Reporting, w.status(t, id))
	require.NoError(t, w.engine.Expire(t.Context(), tenant, id, time.Minute))
	require.Equal(t, workflow.Failed, w.status(t, id))
	markdown, err := w.store.ErrorOutput(t.Context(), tenant, id)
	require.NoError(t, err)
	require.Contains(t, markdown, "deadline")
}

func TestDeadlineWithoutAnyQuery(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	for name, begin := range map[string]func() string{
		"asking":  func() string { return w.create(t) },
		"running": func() string { return w.running(t, 1, 1) },
	} {
		id := begin()
		w.backdate(t, id, "deadline", 2*time.Hour)
		require.NoError(t, w.engine.Expire(t.Context(), tenant, id, 0), name)
		require.Equal(t, workflow.Failed, w.status(t, id), name)
		_, err := w.store.ErrorOutput(t.Context(), tenant, id)
		require.NoError(t, err, name)
	}
}

func TestDeleteRemovesEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id := w.running(t, 2, 3)
	open := w.some(t, bus.Analyze)
	require.NoError(t, w.engine.Delete(t.Context(), tenant, id))
	for _, table := range []string{"serp_query", "document", "website", "extraction", "task", "event"} {
		require.Zero(t, w.count(t, "SELECT count(*) FROM "+table))
	}
	require.Equal(t, engine.Late, w.apply(t, answer(open[0])))
	require.ErrorIs(t, w.engine.Delete(t.Context(), tenant, id), store.ErrNotFound)
}

func TestAnotherTenantSeesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id := w.running(t, 1, 1)
	_, err := w.store.Record(t.Context(), "other", id, true)
	require.ErrorIs(t, err, store.ErrNotFound)
	_, err = w.engine.Cancel(t.Context(), "other", id)
	require.ErrorIs(t, err, store.ErrNotFound)
	require.ErrorIs(t, w.engine.Delete(t.Context(), "other", id), store.ErrNotFound)
	listed, err := w.store.List(t.Context(), "other", store.Page{Limit: 10})
	require.NoError(t, err)
	require.Empty(t, listed)
}

func TestIdempotencyKeysMakeOneResearchEach(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	const keys = 20
	var mutex sync.Mutex
	made := make(map[int]map[string]bool)
	var group errgroup.Group
	group.SetLimit(64)
	for _, i := range rand.Perm(keys * 20) {
		group.Go(func() error {
			key := i % keys
			id, err := w.engine.Create(t.Context(), store.NewResearch{ID: store.NewID(), Tenant: tenant, Prompt: "p", NumQuestions: 1},
				&store.KeyClaim{Method: "create", Key: fmt.Sprint(key), Digest: []byte("same")})
			mutex.Lock()
			defer mutex.Unlock()
			if made[key] == nil {
				made[key] = make(map[string]bool)
			}
			made[key][id] = true
			return err
		})
	}
	require.NoError(t, group.Wait())
	for key, ids := range made {
		require.Len(t, ids, 1, "key %d", key)
	}
	require.Equal(t, keys, w.count(t, "SELECT count(*) FROM research"))
	_, err := w.engine.Create(t.Context(), store.NewResearch{ID: store.NewID(), Tenant: tenant, Prompt: "p", NumQuestions: 1},
		&store.KeyClaim{Method: "create", Key: "1", Digest: []byte("other")})
	require.ErrorIs(t, err, engine.ErrKeyMismatch)
}

func TestStartAtOnceMakesOneTree(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database(t), store.Hooks{})
	id := w.create(t)
	var conflict *engine.ConflictError
	require.ErrorAs(t, w.engine.Start(t.Context(), tenant, id, startRequest(2, 3)), &conflict, "no questions yet")
	w.step(t, id)
	var group errgroup.Group
	for range 20 {
		group.Go(func() error { return w.engine.Start(t.Context(), tenant, id, startRequest(2, 3)) })
	}
	require.NoError(t, group.Wait())
	require.ErrorAs(t, w.engine.Start(t.Context(), tenant, id, startRequest(3, 3)), &conflict, "other values")
	w.finish(t, id)
	requireOutcome(t, w, id, 2, 3)
	require.NoError(t, w.engine.Start(t.Context(), tenant, id, startRequest(2, 3)), "the same again")
}

// backdate moves a time of a research into the past.
func (w *world) backdate(t testing.TB, id, column string, by time.Duration) {
	t.Helper()
	require.Equal(t, 1, w.count(t, `WITH moved AS (UPDATE research SET `+column+` = `+column+` - $2::interval
		WHERE id = $1 RETURNING 1) SELECT count(*) FROM moved`, id, by))
}
