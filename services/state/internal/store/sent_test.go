package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/services/state/internal/store"
)

// TestMarkSentWaitsForNobody marks a task that somebody is changing, one that was
// rescheduled since, and one as it was claimed.
func TestMarkSentWaitsForNobody(t *testing.T) {
	t.Parallel()
	st, url := open(t)
	for range 3 {
		asking(t, st)
	}
	claimed, err := st.Claim(t.Context(), 10, time.Minute)
	require.NoError(t, err)
	require.Len(t, claimed, 3)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	_, err = conn.Exec(t.Context(), "UPDATE task SET attempt = 1 WHERE id = $1", claimed[1].ID)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "BEGIN")
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "UPDATE task SET code = 'x' WHERE id = $1", claimed[0].ID)
	require.NoError(t, err)

	require.NoError(t, st.MarkSent(t.Context(), []store.Task{claimed[0].Task, claimed[1].Task, claimed[2].Task}))
	_, err = conn.Exec(t.Context(), "COMMIT")
	require.NoError(t, err)
	rows, err := conn.Query(t.Context(), "SELECT id::text FROM task WHERE state = 'published'")
	require.NoError(t, err)
	marked, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, []string{claimed[2].ID}, marked)
}
