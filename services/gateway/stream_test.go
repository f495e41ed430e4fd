package gateway_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/services/gateway"
)

// frame is one server-sent event, or a comment.
type frame struct{ id, event, data, comment string }

// follow opens a stream of events.
func (b *bundle) follow(t *testing.T, path string, header ...string) (*http.Response, func() (frame, error), func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+path, nil)
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := b.http.Do(request)
	require.NoError(t, err)
	lines := bufio.NewReader(response.Body)
	next := func() (frame, error) {
		var f frame
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return f, err
			}
			line = strings.TrimSuffix(line, "\n")
			name, value, _ := strings.Cut(line, ": ")
			switch {
			case line == "":
				return f, nil
			case name == "id":
				f.id = value
			case name == "event":
				f.event = value
			case name == "data":
				f.data = value
			default:
				f.comment = line
			}
		}
	}
	return response, next, func() {
		cancel()
		_ = response.Body.Close()
	}
}

// all reads the rest of a stream.
func all(t *testing.T, next func() (frame, error)) []frame {
	t.Helper()
	var frames []frame
	for {
		f, err := next()
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			return frames
		}
		if f.id != "" {
			frames = append(frames, f)
		}
	}
}

func ids(frames []frame) string {
	var list []string
	for _, f := range frames {
		list = append(list, f.id)
	}
	return strings.Join(list, " ")
}

func TestEventsAreSentAsTheyHappenAndEnd(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.state.hold = true
	id := b.create(t)
	b.start(t, id)
	response, next, stop := b.follow(t, "/api/research/"+id+"/events")
	defer stop()
	require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	first, err := next()
	require.NoError(t, err)
	require.Equal(t, "retry: 1000", first.comment)
	for _, want := range []string{"research.ready", "research.running", "query.planned"} {
		f, err := next()
		require.NoError(t, err)
		require.Equal(t, want, f.event)
		require.Contains(t, f.data, `"research_id"`)
	}
	b.state.emitNow(id, "odd\ntype")
	odd, err := next()
	require.NoError(t, err)
	require.Equal(t, frame{id: "4", event: "odd type", data: odd.data}, odd)
	b.state.finish(id)
	require.Equal(t, "5 6 7", ids(all(t, next)))
}

func TestEventsResumeWithoutAGap(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	id := b.create(t)
	b.start(t, id)
	path := "/api/research/" + id + "/events"
	for _, c := range []struct{ path, header, want string }{
		{path, "", "1 2 3 4 5 6"},
		{path, "0", "1 2 3 4 5 6"},
		{path, "3", "4 5 6"},
		{path + "?last_event_id=4", "", "5 6"},
		{path + "?last_event_id=1", "5", "6"},
	} {
		_, next, stop := b.follow(t, c.path, "Last-Event-ID", c.header)
		require.Equal(t, c.want, ids(all(t, next)), "%+v", c)
		stop()
	}
	for _, header := range []string{"6", "2147483647"} {
		got := b.do(t, "GET", path, "", "Last-Event-ID", header)
		require.Equal(t, http.StatusNoContent, got.status, "a client that has everything need not come back")
	}
	got := b.do(t, "GET", path, "", "Last-Event-ID", "2147483648")
	require.Equal(t, 400, got.status)
}

// A client that is cut off at any point and comes back has each event exactly once.
func TestEventsAcrossManyCuts(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.state.hold = true
	id := b.create(t)
	b.start(t, id)
	go func() {
		for range 200 {
			b.state.emitNow(id, "website.scraped")
		}
		b.state.finish(id)
	}()
	last, count := "0", 0
	for cut := 1; ; cut++ {
		response, next, stop := b.follow(t, "/api/research/"+id+"/events", "Last-Event-ID", last)
		if response.StatusCode == http.StatusNoContent {
			stop()
			break
		}
		for range cut {
			f, err := next()
			if err != nil {
				break
			}
			if f.id != "" {
				count++
				last = f.id
			}
		}
		stop()
	}
	require.Equal(t, "206", last)
	require.Equal(t, 206, count)
}

func TestAClientThatLeavesFreesEverything(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.state.hold = true
	id := b.create(t)
	var stops []func()
	for range 20 {
		_, next, stop := b.follow(t, "/api/research/"+id+"/events")
		_, err := next()
		require.NoError(t, err)
		stops = append(stops, stop)
	}
	require.Equal(t, 20, b.state.watchers())
	for _, stop := range stops {
		stop()
	}
	require.Eventually(t, func() bool { return b.state.watchers() == 0 }, 5*time.Second, 5*time.Millisecond)
}

func TestAQuietStreamHasHeartbeats(t *testing.T) {
	t.Parallel()
	b := setup(t, func(cfg *gateway.Config) { cfg.Heartbeat = 20 * time.Millisecond })
	b.state.hold = true
	id := b.create(t)
	_, next, stop := b.follow(t, "/api/research/"+id+"/events", "Last-Event-ID", "1")
	defer stop()
	for _, want := range []string{"retry: 1000", ": still here", ": still here"} {
		f, err := next()
		require.NoError(t, err)
		require.Equal(t, want, f.comment)
	}
}

func TestAStreamOutlivesARestartOfState(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.state.hold = true
	id := b.create(t)
	b.start(t, id)
	_, next, stop := b.follow(t, "/api/research/"+id+"/events")
	defer stop()
	for range 4 {
		_, err := next()
		require.NoError(t, err)
	}
	for range 3 {
		b.stopState()
		b.stopState, _ = serveState(t, b.state, b.stateAddr)
		b.state.emitNow(id, "website.scraped")
		_, err := next()
		require.NoError(t, err)
	}
	b.state.finish(id)
	require.Equal(t, "7 8 9", ids(all(t, next)))
}

func TestAStreamThatStateBrokeSaysSo(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.state.hold = true
	id := b.create(t)
	_, next, stop := b.follow(t, "/api/research/"+id+"/events", "Last-Event-ID", "1")
	defer stop()
	_, err := next()
	require.NoError(t, err)
	b.state.breakWatchers()
	f, err := next()
	require.NoError(t, err)
	require.Equal(t, "failure", f.event)
	require.Empty(t, f.id)
	require.Contains(t, f.data, `"code"`)
	_, err = next()
	require.ErrorIs(t, err, io.EOF)
}

func TestDrain(t *testing.T) {
	t.Parallel()
	b := setup(t, func(cfg *gateway.Config) { cfg.DrainDelay = 300 * time.Millisecond })
	b.state.hold = true
	id := b.create(t)
	_, next, stop := b.follow(t, "/api/research/"+id+"/events", "Last-Event-ID", "1")
	defer stop()
	_, err := next()
	require.NoError(t, err)

	ended := make(chan error, 1)
	go func() { ended <- b.stop() }()
	require.Eventually(t, func() bool { return b.do(t, "GET", "/readyz", "").status == 503 }, 250*time.Millisecond, time.Millisecond,
		"unready first")
	require.Equal(t, 200, b.do(t, "GET", "/api/research/"+id, "").status, "served on for the delay")
	f, err := next()
	require.NoError(t, err)
	require.Equal(t, ": the server restarts, come back", f.comment)
	_, err = next()
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, <-ended)
	require.Zero(t, b.state.watchers())
}
