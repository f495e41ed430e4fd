package chaos_test

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/testkit/chaos"
	"github.com/fathom-research/fathom/testkit/fakemodel"
	"github.com/fathom-research/fathom/testkit/fakeweb"
)

// The defaults are the short run that every change passes; `make chaos` sets more.
var (
	researches  = flag.Int("chaos.researches", 3, "researches to run")
	parallel    = flag.Int("chaos.parallel", 3, "researches at once")
	depth       = flag.Int("chaos.depth", 2, "depth of each")
	breadth     = flag.Int("chaos.breadth", 3, "breadth of each")
	kills       = flag.Int("chaos.kills", 12, "processes to kill")
	every       = flag.Duration("chaos.every", 1500*time.Millisecond, "mean time between kills")
	seed        = flag.Uint64("chaos.seed", 1, "seed of the kills")
	faultPoints = flag.Float64("chaos.faultpoints", 0.003, "probability of a death at each commit and publish")
	deadline    = flag.Duration("chaos.deadline", 5*time.Minute, "bound on the whole run")
	rounds      = flag.Int("chaos.rounds", 6, "rolling restarts of every service")
	logs        = flag.String("chaos.logs", "", "file for the services' logs")
)

const module = "github.com/fathom-research/fathom/"

func TestResearchesSurviveTheDeathOfAnyPart(t *testing.T) {
	t.Parallel()
	dir := enterable(t)
	bin := build(t)
	model := fakemodel.Start(t, fakemodel.Options{Latency: 50 * time.Millisecond})
	web := fakeweb.Start(t, fakeweb.Options{Sites: 32, SearchLatency: 20 * time.Millisecond, PageLatency: 20 * time.Millisecond})

	figures, err := chaos.Run(t.Context(), bin, dir, outside(model, web), chaos.Options{
		Researches: *researches, Parallel: *parallel, Depth: *depth, Breadth: *breadth,
		Kills: *kills, Every: *every, Seed: *seed, FaultPoints: *faultPoints, Deadline: *deadline,
		Output: output(t), Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})

	if figures != nil {
		t.Logf("%+v", *figures)
	}
	require.NoError(t, err)
	require.Empty(t, figures.Violations)
	require.GreaterOrEqual(t, figures.Completed, *researches)
}

func TestRollingRestartsFailNoRequest(t *testing.T) {
	t.Parallel()
	dir := enterable(t)
	bin := build(t)
	model := fakemodel.Start(t, fakemodel.Options{Latency: 300 * time.Millisecond})
	web := fakeweb.Start(t, fakeweb.Options{Sites: 32, SearchLatency: 100 * time.Millisecond, PageLatency: 100 * time.Millisecond})

	rolled, err := chaos.Roll(t.Context(), bin, dir, outside(model, web), chaos.Options{
		Researches: 2, Depth: *depth, Breadth: *breadth, Seed: *seed, Deadline: *deadline,
		Output: output(t), Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}, *rounds)

	if rolled != nil {
		t.Logf("%+v", *rolled)
	}
	require.NoError(t, err)
	require.Empty(t, rolled.Violations)
	require.Empty(t, rolled.Refused)
	require.Greater(t, rolled.Requests, rolled.Restarts)
	require.Zero(t, rolled.Attempts)
	require.Zero(t, rolled.Repeated)
}

// outside is a made-up model and web as a run sees them.
func outside(model *fakemodel.Server, web *fakeweb.Web) chaos.Outside {
	return chaos.Outside{
		SearchURL: web.SearchURL, Hosts: web.Hosts, ModelURL: model.URL, InFlight: model.InFlight, Paid: model.Paid,
	}
}

// enterable makes a folder that the user of Postgres may enter, which t.TempDir is
// not when root runs the test.
func enterable(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "chaos-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// build makes the services' binaries.
func build(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	targets := []string{"testkit/cmd/natsd"}
	for _, service := range []string{"state", "gateway", "planner", "searcher", "scraper", "analyzer", "reporter"} {
		targets = append(targets, filepath.Join("services", service, "cmd", service))
	}
	args := []string{"build", "-o", bin + string(filepath.Separator)}
	for _, target := range targets {
		args = append(args, module+target)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	output, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	require.NoError(t, err, string(output))
	return bin
}

func output(t *testing.T) io.Writer {
	t.Helper()
	if *logs == "" {
		return io.Discard
	}
	file, err := os.Create(*logs)
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	return file
}
