package pgtest_test

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/testkit/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func TestEachDatabaseIsItsOwn(t *testing.T) {
	t.Parallel()
	first, second := open(t), open(t)

	_, err := first.Exec(t.Context(), "INSERT INTO item VALUES (1)")
	require.NoError(t, err)

	require.Equal(t, 1, count(t, first))
	require.Equal(t, 0, count(t, second))
}

func open(t *testing.T) *pgx.Conn {
	t.Helper()
	url := pgtest.Database(t, func(ctx context.Context, url string) error {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(ctx) }()
		_, err = conn.Exec(ctx, "CREATE TABLE item (id int)")
		return err
	})
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func count(t *testing.T, conn *pgx.Conn) int {
	t.Helper()
	var n int
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM item").Scan(&n))
	return n
}
