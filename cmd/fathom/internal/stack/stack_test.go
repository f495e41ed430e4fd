package stack

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestFolderIsLockedOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "folder")
	running, err := Find(dir)
	require.NoError(t, err)
	require.Nil(t, running)

	first, err := openFolder(dir)
	require.NoError(t, err)
	_, err = openFolder(dir)
	var busy *BusyError
	require.ErrorAs(t, err, &busy)
	require.Equal(t, os.Getpid(), busy.Running.PID)
	require.ErrorContains(t, err, "is starting or stopping")

	require.NoError(t, first.announce(Running{PID: 12, URL: "http://127.0.0.1:1", State: "127.0.0.1:2"}))
	running, err = Find(dir)
	require.NoError(t, err)
	require.Equal(t, &Running{PID: 12, URL: "http://127.0.0.1:1", State: "127.0.0.1:2"}, running)
	_, err = openFolder(dir)
	require.ErrorContains(t, err, "in use by fathom (process 12) at http://127.0.0.1:1")

	require.NoError(t, first.close())
	running, err = Find(dir)
	require.NoError(t, err)
	require.Nil(t, running, "a folder that was let go is free, whatever its file says")
	second, err := openFolder(dir)
	require.NoError(t, err)
	require.NoError(t, second.close())
}

func TestTakenPortIsToldBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	dir := t.TempDir()
	_, err = Start(t.Context(), Config{
		Settings: Settings{DataDir: dir, HTTPAddr: taken.Addr().String(), StateAddr: "127.0.0.1:0"},
		Logger:   quiet(),
	})
	require.ErrorContains(t, err, "address already in use")
	require.ErrorContains(t, err, "--http")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "only the lock")
	running, err := Find(dir)
	require.NoError(t, err)
	require.Nil(t, running)
}

func TestCorpusKeepsItsAddress(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	first, err := openLibrary(t.Context(), "", "", data, quiet())
	require.NoError(t, err)
	addr := first.addr()
	other, err := openLibrary(t.Context(), "", "", data, quiet())
	require.NoError(t, err)
	require.NotEqual(t, addr, other.addr(), "a taken address is not waited for")
	require.NoError(t, other.close())
	require.NoError(t, first.close())

	require.NoError(t, os.WriteFile(filepath.Join(data, "corpus-address"), []byte(addr+"\n"), 0o600))
	again, err := openLibrary(t.Context(), "", "", data, quiet())
	require.NoError(t, err)
	require.Equal(t, addr, again.addr())
	require.NoError(t, again.close())

	_, err = openLibrary(t.Context(), t.TempDir(), "", data, quiet())
	require.ErrorContains(t, err, "has no HTML, Markdown, text or PDF files")
}

func TestDefaultDataDir(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		require.Equal(t, "/var/lib/fathom", DefaultDataDir(map[string]string{"HOME": "/root"}))
		return
	}
	require.Equal(t, "/home/me/.local/share/fathom", DefaultDataDir(map[string]string{"HOME": "/home/me"}))
	require.Equal(t, "/data/fathom", DefaultDataDir(map[string]string{"HOME": "/home/me", "XDG_DATA_HOME": "/data"}))
}

func TestOwnCorpusIsReadAtOnce(t *testing.T) {
	t.Parallel()
	require.Equal(t, map[string]string{
		"FATHOM_SEARXNG_URL": "http://127.0.0.1:9", "FATHOM_SCRAPER_ALLOW": "10.0.0.1:80,127.0.0.1:9", "FATHOM_SCRAPER_GAP": "0s",
	}, ownCorpus(map[string]string{"FATHOM_SCRAPER_ALLOW": "10.0.0.1:80", "FATHOM_SCRAPER_PER_SITE": "1"}, "127.0.0.1:9"))
}
