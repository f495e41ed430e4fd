package store_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
	"github.com/fathom-research/fathom/testkit/pgtest"
)

func TestMain(m *testing.M) {
	code := pgtest.Main(m)
	err := goleak.Find()
	if code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

const tenant = "default"

func open(t *testing.T) (*store.Store, string) {
	t.Helper()
	url := pgtest.Database(t, store.Migrate)
	st, err := store.Open(t.Context(), url, 8, store.Hooks{})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	return st, url
}

// asking stores a research with one due task.
func asking(t *testing.T, st *store.Store) string {
	t.Helper()
	id := store.NewID()
	_, err := st.Create(t.Context(), store.NewResearch{ID: id, Tenant: tenant, Prompt: "p", NumQuestions: 1, Deadline: time.Hour}, func(tx *store.Tx) error {
		return tx.AddTasks(t.Context(), store.Task{Kind: bus.Questions})
	})
	require.NoError(t, err)
	return id
}

func TestMigrateAtOnceAndAgain(t *testing.T) {
	t.Parallel()
	url := pgtest.NamedDatabase(t, "empty", func(context.Context, string) error { return nil })
	var group errgroup.Group
	for range 5 {
		group.Go(func() error { return store.Migrate(t.Context(), url) })
	}
	require.NoError(t, group.Wait())
	require.NoError(t, store.Migrate(t.Context(), url))
}

func TestUnreachableIsToldFromRefusing(t *testing.T) {
	t.Parallel()
	err := store.Migrate(t.Context(), "postgres://nobody@127.0.0.1:1/none")
	require.Error(t, err)
	require.True(t, store.Unreachable(err))
	_, url := open(t)
	parsed, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	parsed.Database = "missing"
	_, err = pgx.ConnectConfig(t.Context(), parsed)
	require.Error(t, err)
	require.False(t, store.Unreachable(err))
}

func TestEachDueTaskIsClaimedByOne(t *testing.T) {
	t.Parallel()
	st, _ := open(t)
	const tasks = 40
	for range tasks {
		asking(t, st)
	}
	var mutex sync.Mutex
	claims := make(map[string]int)
	var group errgroup.Group
	for range 8 {
		group.Go(func() error {
			for {
				claimed, err := st.Claim(t.Context(), 3, time.Minute)
				if err != nil || len(claimed) == 0 {
					return err
				}
				mutex.Lock()
				for _, c := range claimed {
					claims[c.ID]++
				}
				mutex.Unlock()
			}
		})
	}
	require.NoError(t, group.Wait())
	// One that skipped another's locked rows may have stopped early; the rest is due.
	left, err := st.Claim(t.Context(), tasks, time.Minute)
	require.NoError(t, err)
	for _, c := range left {
		claims[c.ID]++
	}
	require.Len(t, claims, tasks)
	for id, times := range claims {
		require.Equal(t, 1, times, id)
	}
}

func TestLeaseEnds(t *testing.T) {
	t.Parallel()
	st, _ := open(t)
	asking(t, st)
	first, err := st.Claim(t.Context(), 1, 20*time.Millisecond)
	require.NoError(t, err)
	require.Len(t, first, 1)
	require.Eventually(t, func() bool {
		again, err := st.Claim(t.Context(), 1, time.Minute)
		return err == nil && len(again) == 1 && again[0].ID == first[0].ID
	}, 10*time.Second, 5*time.Millisecond)
}

func TestPausedResearchesDoNotHideOthers(t *testing.T) {
	t.Parallel()
	st, _ := open(t)
	for range 10 {
		_, err := st.Update(t.Context(), tenant, asking(t, st), func(tx *store.Tx) error {
			tx.R.Status, tx.R.PausedFrom, tx.R.PausedAt = workflow.Paused, workflow.Asking, &tx.Now
			return nil
		})
		require.NoError(t, err)
	}
	working := asking(t, st)
	claimed, err := st.Claim(t.Context(), 1, time.Minute)
	require.NoError(t, err)
	require.Len(t, claimed, 1)
	require.Equal(t, working, claimed[0].ResearchID)
}

func TestErrorOfAWriteThatWasKeptBackSurfaces(t *testing.T) {
	t.Parallel()
	st, _ := open(t)
	id := asking(t, st)
	for name, next := range map[string]func(tx *store.Tx) error{
		"at the commit": func(*store.Tx) error { return nil },
		"at a read": func(tx *store.Tx) error {
			_, err := tx.Progress(t.Context())
			return err
		},
	} {
		_, err := st.Update(t.Context(), tenant, id, func(tx *store.Tx) error {
			err := tx.AddTasks(t.Context(), store.Task{Kind: bus.Questions})
			require.NoError(t, err)
			return next(tx)
		})
		require.True(t, store.Refused(err), "%s: %v", name, err)
	}
}

func TestTheDatabaseRefusesImpossibleRows(t *testing.T) {
	t.Parallel()
	st, url := open(t)
	id := asking(t, st)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	_, err = conn.Exec(t.Context(), `INSERT INTO serp_query (id, tenant, research_id, ordinal, depth, breadth, text, objective)
		VALUES (gen_random_uuid(), 'default', $1, 0, 1, 1, 'q', 'o')`, id)
	require.NoError(t, err)
	for name, sql := range map[string]string{
		"an ended research without its end":   `UPDATE research SET status = 'completed' WHERE id = $1`,
		"an ended research with open queries": `UPDATE research SET status = 'failed', finished_at = now(), open_queries = 1 WHERE id = $1`,
		"paused from nowhere":                 `UPDATE research SET status = 'paused' WHERE id = $1`,
		"fewer than no open queries":          `UPDATE research SET open_queries = -1 WHERE id = $1`,
		"an unknown status":                   `UPDATE research SET status = 'lost' WHERE id = $1`,
		"two first queries": `INSERT INTO serp_query (id, tenant, research_id, ordinal, depth, breadth, text, objective)
			VALUES (gen_random_uuid(), 'default', $1, 0, 1, 1, 'q', 'o')`,
		"a child at the root": `INSERT INTO serp_query (id, tenant, research_id, ordinal, depth, breadth, text, objective)
			VALUES (gen_random_uuid(), 'default', $1, 1, 2, 1, 'q', 'o')`,
		"a completed query with open websites": `UPDATE serp_query SET status = 'completed', reason = 'ok', finished_at = now(), urls_open = 1 WHERE research_id = $1`,
		"a query that ended for no reason":     `UPDATE serp_query SET status = 'failed', finished_at = now() WHERE research_id = $1`,
		"two question tasks":                   `INSERT INTO task (id, tenant, research_id, kind) VALUES (gen_random_uuid(), 'default', $1, 'questions')`,
		"a search of nothing":                  `INSERT INTO task (id, tenant, research_id, kind) VALUES (gen_random_uuid(), 'default', $1, 'search')`,
		"a published task that was not":        `UPDATE task SET state = 'published' WHERE research_id = $1`,
	} {
		_, err := conn.Exec(t.Context(), sql, id)
		require.True(t, store.Refused(err), "%s: %v", name, err)
	}
}
