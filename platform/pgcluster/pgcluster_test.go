package pgcluster_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fathom-research/fathom/platform/pgcluster"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// folder is one that the server's user may enter, which t.TempDir is not for root.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pgcluster-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return filepath.Join(dir, "cluster")
}

func TestStartsAgainOnTheSameFolder(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	for range 2 {
		cluster, err := pgcluster.Start(t.Context(), pgcluster.Config{Dir: dir})
		require.NoError(t, err)
		require.Contains(t, cluster.URL(), "postgres://fathom@/postgres?host=")
		require.NoError(t, cluster.Stop(t.Context()))
		<-cluster.Exited()
	}
}

func TestStopsAServerLeftBehind(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	left, err := pgcluster.Start(t.Context(), pgcluster.Config{Dir: dir})
	require.NoError(t, err)

	next, err := pgcluster.Start(t.Context(), pgcluster.Config{Dir: dir})
	require.NoError(t, err)

	<-left.Exited()
	require.NoError(t, next.Stop(t.Context()))
}

func TestStartsAfterTheServerWasKilled(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	cluster, err := pgcluster.Start(t.Context(), pgcluster.Config{Dir: dir})
	require.NoError(t, err)
	content, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	require.NoError(t, err)
	pid, _, _ := strings.Cut(string(content), "\n")
	require.NoError(t, exec.Command("kill", "-KILL", pid).Run())
	<-cluster.Exited()

	again, err := pgcluster.Start(t.Context(), pgcluster.Config{Dir: dir})
	require.NoError(t, err)
	require.NoError(t, again.Stop(t.Context()))
}

func TestNamesTheFolderThatTheServerMayNotEnter(t *testing.T) {
	t.Parallel()
	if syscall.Geteuid() != 0 {
		// Only root runs the server as somebody else: then the folder is this user's own.
		cluster, err := pgcluster.Start(t.Context(), pgcluster.Config{Dir: filepath.Join(t.TempDir(), "cluster")})
		require.NoError(t, err)
		require.NoError(t, cluster.Stop(t.Context()))
		return
	}
	closed := folder(t)
	require.NoError(t, os.Mkdir(closed, 0o700))

	_, err := pgcluster.Start(t.Context(), pgcluster.Config{Dir: filepath.Join(closed, "cluster")})

	require.ErrorContains(t, err, "may not enter "+closed)
}
