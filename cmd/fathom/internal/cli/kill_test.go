package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/cmd/fathom/internal/client"
	"github.com/fathom-research/fathom/cmd/fathom/internal/stack"
	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
)

// child is a fathom in a process of its own.
type child struct {
	command *exec.Cmd
	log     *bytes.Buffer
	url     string
}

// startUp starts `fathom up` on dir and returns when it tells its address.
func startUp(t *testing.T, ctx context.Context, dir string, environ ...string) *child {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	c := &child{command: exec.CommandContext(ctx, self, "up", "--data", dir, "--http", "127.0.0.1:0"), log: &bytes.Buffer{}}
	c.command.Env = append(os.Environ(), append([]string{childVariable + "=1", "FATHOM_SCRAPER_MODE=http"}, environ...)...)
	c.command.Stdout, c.command.Stderr = c.log, c.log
	require.NoError(t, c.command.Start())
	t.Cleanup(func() { _ = c.kill() })
	require.Eventually(t, func() bool {
		running, err := stack.Find(dir)
		if err != nil || running == nil || running.URL == "" || running.PID != c.command.Process.Pid {
			return false
		}
		c.url = running.URL
		return true
	}, time.Minute, 20*time.Millisecond, "fathom up does not start")
	return c
}

func (c *child) kill() error {
	err := c.command.Process.Kill()
	_ = c.command.Wait()
	return err
}

// stop asks for an orderly end.
func (c *child) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, c.command.Process.Signal(syscall.SIGTERM))
	require.NoError(t, c.command.Wait(), c.log.String())
}

func TestResearchGoesOnAfterKill(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), e2eTimeout)
	defer cancel()
	dir := dataDir(t)
	// One page at a time with a pause, so that there is a middle to be killed in.
	slowly := []string{"FATHOM_SCRAPER_PER_SITE=1", "FATHOM_SCRAPER_GAP=50ms"}
	first := startUp(t, ctx, dir, slowly...)
	id := begin(t, ctx, first.url)
	awaitEvent(t, ctx, first.url, id, "query.completed")

	// Other commands find the running one, and a second one is refused.
	require.Contains(t, fathom(ctx, "", nil, "ls", "--data", dir).out, id)
	require.Contains(t, fathom(ctx, "", nil, "dead", "ls", "--data", dir).out, "SEQUENCE")
	refused := fathom(ctx, "", nil, "up", "--data", dir, "--http", "127.0.0.1:0")
	require.Equal(t, exitFailed, refused.status)
	require.Contains(t, refused.err, "in use by fathom")
	require.Contains(t, refused.err, first.url)

	require.NoError(t, first.kill())
	require.NotContains(t, first.log.String(), "research completed")

	// Beside another one, on another folder and port.
	beside := startUp(t, ctx, dataDir(t))
	second := startUp(t, ctx, dir)
	watched := fathom(ctx, "", nil, "watch", id, "--data", dir)
	require.Zero(t, watched.status, watched.err)
	require.Contains(t, watched.err, "research completed")
	require.Contains(t, watched.out, "## Sources")

	c, err := client.New(second.url)
	require.NoError(t, err)
	defer c.Close()
	record, err := c.Get(ctx, id, "")
	require.NoError(t, err)
	requireWhole(t, record, map[int32]int{1: 3, 2: 6})
	requireCited(t, record, watched.out)
	require.Equal(t, 1, strings.Count(watched.err, "report written"))
	beside.stop(t)
	second.stop(t)
}

func begin(t *testing.T, ctx context.Context, url string) string {
	t.Helper()
	c, err := client.New(url)
	require.NoError(t, err)
	defer c.Close()
	asked, err := c.CreateQuestions(ctx, &researchv1.CreateQuestionsRequest{
		InitialPrompt: "How do message brokers and databases keep data after a crash?", NumQuestions: 1,
	})
	require.NoError(t, err)
	_, err = c.Start(ctx, &researchv1.StartResearchRequest{
		ResearchId: asked.GetResearchId(), FollowupAnswers: []string{""}, Depth: 2, Breadth: 3,
	})
	require.NoError(t, err)
	return asked.GetResearchId()
}

func awaitEvent(t *testing.T, ctx context.Context, url, id, kind string) {
	t.Helper()
	c, err := client.New(url)
	require.NoError(t, err)
	defer c.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	seen := false
	_ = c.Watch(ctx, id, 0, func(event *researchv1.Event) error {
		if event.GetType() == kind {
			seen = true
			cancel()
		}
		return nil
	})
	require.True(t, seen, kind)
}
