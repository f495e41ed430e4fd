package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/cmd/fathom/internal/stack"
)

// dataDir is a folder that Postgres can enter: t.TempDir belongs to this user alone.
func dataDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fathom-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

type outcome struct {
	status   int
	out, err string
}

// fathom runs the command line in this process, with nothing of this process's own
// environment but what finds programs, and without a browser.
func fathom(ctx context.Context, stdin string, environ []string, args ...string) outcome {
	var out, errs bytes.Buffer
	status := run(ctx, args, Streams{In: strings.NewReader(stdin), Out: &out, Err: &errs}, append(environment(), environ...))
	return outcome{status, out.String(), errs.String()}
}

func environment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "FATHOM_SCRAPER_MODE=http"}
}

func TestVersionAndHelp(t *testing.T) {
	t.Parallel()
	require.Contains(t, fathom(t.Context(), "", nil, "version").out, "fathom dev (go")
	var version map[string]string
	require.NoError(t, json.Unmarshal([]byte(fathom(t.Context(), "", nil, "version", "--json").out), &version))
	require.Equal(t, "dev", version["version"])
	help := fathom(t.Context(), "", nil, "--help")
	require.Zero(t, help.status)
	for _, command := range []string{
		"up", "research", "ls", "show", "watch", "report", "cancel", "pause", "resume", "dead", "corpus", "read", "extract", "version", "completion",
	} {
		require.Regexp(t, `(?m)^  `+command+` `, help.out)
	}
	require.Contains(t, fathom(t.Context(), "", nil, "completion", "bash").out, "fathom")
}

func TestMistakesAreSaid(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, taken.Close()) })
	answers := filepath.Join(dir, "answers.json")
	require.NoError(t, os.WriteFile(answers, []byte(`["one", 2]`), 0o600))
	for name, c := range map[string]struct {
		args    []string
		environ []string
		want    string
	}{
		"unknown command":  {[]string{"frobnicate"}, nil, "unknown command"},
		"no prompt":        {[]string{"research"}, nil, "accepts 1 arg"},
		"address":          {[]string{"ls", "--server", "localhost:8080"}, nil, "is not the address of a gateway"},
		"server away":      {[]string{"ls", "--server", "http://127.0.0.1:1"}, nil, "ask the gateway"},
		"answers missing":  {[]string{"research", "x", "--answers", dir + "/none"}, nil, "read the answers"},
		"answers broken":   {[]string{"research", "x", "--answers", answers}, nil, "read the answers"},
		"corpus elsewhere": {[]string{"research", "x", "--corpus", dir, "--server", "http://127.0.0.1:1"}, nil, "--corpus is for a research in this process"},
		"port taken":       {[]string{"up", "--data", dir, "--http", taken.Addr().String()}, nil, "choose another address with --http"},
		"data not a dir":   {[]string{"up", "--data", answers}, nil, "choose another with --data"},
		"setting":          {[]string{"read", "http://127.0.0.1:1/"}, []string{"FATHOM_SCRAPER_MODE=telepathy"}, "FATHOM_SCRAPER_MODE must be"},
		"dead of a server": {[]string{"dead", "ls", "--server", "http://127.0.0.1:1"}, nil, "--state"},
		"dead sequence":    {[]string{"dead", "show", "first"}, nil, "not a sequence number"},
		"corpus missing":   {[]string{"corpus", "serve", dir + "/none"}, nil, "open the corpus"},
		"private address":  {[]string{"read", "http://127.0.0.1/"}, nil, "127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := fathom(t.Context(), "", c.environ, c.args...)
			require.Equal(t, exitFailed, got.status)
			require.Contains(t, got.err, c.want)
			require.True(t, strings.HasPrefix(got.err, "fathom: "), got.err)
			require.Empty(t, got.out)
		})
	}
}

func TestBusyDataFolder(t *testing.T) {
	t.Parallel()
	busy := &stack.BusyError{Dir: "/data", Running: stack.Running{PID: 7, URL: "http://127.0.0.1:8080"}}
	require.EqualError(t, busy, "data folder /data: in use by fathom (process 7) at http://127.0.0.1:8080; use that one, or choose another folder with --data")
}

const page = `<html><head><title>Tides</title></head><body><nav>Home Shop Cart</nav><article><h1>Tides</h1>
<p>The tide rises and falls twice in a lunar day, which lasts twenty-four hours and fifty minutes at most places on the coast.</p>
<p>Spring tides follow full and new moon, when the sun and the moon pull along one line, and neap tides follow the quarters of the moon.</p>
</article></body></html>`

func TestExtract(t *testing.T) {
	t.Parallel()
	got := fathom(t.Context(), page, nil, "extract", "--url", "https://example.org/tides")
	require.Zero(t, got.status, got.err)
	require.Contains(t, got.out, "twice in a lunar day")
	require.NotContains(t, got.out, "<p>")

	line, err := json.Marshal(map[string]string{"id": "a", "url": "https://example.org/tides", "html_b64": base64.StdEncoding.EncodeToString([]byte(page))})
	require.NoError(t, err)
	got = fathom(t.Context(), string(line)+"\n\nbroken\n"+`{"id":"b","html_b64":"*"}`, nil, "extract", "--jsonl")
	require.Zero(t, got.status, got.err)
	var texts []extractOut
	for line := range strings.Lines(got.out) {
		var text extractOut
		require.NoError(t, json.Unmarshal([]byte(line), &text))
		texts = append(texts, text)
	}
	require.Len(t, texts, 3)
	require.Contains(t, texts[0].Text, "neap tides")
	require.Positive(t, texts[0].NS)
	require.Contains(t, texts[1].Err, "not a document")
	require.Equal(t, "b", texts[2].ID)
	require.Contains(t, texts[2].Err, "base64")
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "answers")
	for body, want := range map[string][]string{
		"one\n\n three \n":     {"one", "", "three"},
		`["one", "", "three"]`: {"one", "", "three"},
	} {
		require.NoError(t, os.WriteFile(file, []byte(body), 0o600))
		got, err := readAnswers(file)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	var out bytes.Buffer
	a := &app{Streams: Streams{In: strings.NewReader("never read"), Err: &out}}
	got, err := a.answer(t.Context(), lineReader(a.In), []string{"Why?", "How?"}, nil, researchFlags{})
	require.NoError(t, err)
	require.Equal(t, []string{"", ""}, got)
	require.Equal(t, "1. Why?\n   no preference\n2. How?\n   no preference\n", out.String())
	_, err = a.answer(t.Context(), lineReader(a.In), []string{"Why?"}, []string{"a", "b"}, researchFlags{answers: "file"})
	require.EqualError(t, err, "file has 2 answers, and there are 1 questions")
}

func TestGoOn(t *testing.T) {
	t.Parallel()
	for answer, declined := range map[string]bool{"": false, "\n": false, "y\n": false, "n\n": true, " No\n": true} {
		var out bytes.Buffer
		a := &app{Streams: Streams{Err: &out}}
		err := a.goOn(t.Context(), lineReader(strings.NewReader(answer)))
		require.Equal(t, declined, errors.Is(err, errDeclined), "%q", answer)
		require.Equal(t, "Go on? [Y/n] > ", out.String())
	}
}
