package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func serve(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c, err := New(server.URL + "/")
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func TestNewRefusesWhatIsNoAddress(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "127.0.0.1:8080", "ftp://host", "http://", "::"} {
		_, err := New(base)
		require.Error(t, err, base)
	}
}

func TestRefusalsAreReadable(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/research/questions":
			w.WriteHeader(http.StatusGatewayTimeout)
			fmt.Fprint(w, `{"code":4,"message":"Not in time","details":[{"@type":"x","metadata":{"research_id":"r1"}}]}`)
		default:
			w.WriteHeader(http.StatusBadGateway)
			fmt.Fprint(w, "<html>")
		}
	})
	_, err := c.CreateQuestions(t.Context(), &researchv1.CreateQuestionsRequest{})
	var refused *Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, Error{Status: 504, Message: "Not in time", ResearchID: "r1"}, *refused)
	_, err = c.Get(t.Context(), "r1", "")
	require.EqualError(t, err, "the gateway answered 502 Bad Gateway")
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	var seen atomic.Value
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r.Method + " " + r.URL.String())
		fmt.Fprint(w, "{}")
	})
	for want, call := range map[string]func() error{
		"POST /api/research/start":         func() error { _, err := c.Start(t.Context(), &researchv1.StartResearchRequest{}); return err },
		"GET /api/research/r?view=summary": func() error { _, err := c.Get(t.Context(), "r", "summary"); return err },
		"GET /api/research/..%2Fx":         func() error { _, err := c.Get(t.Context(), "../x", ""); return err },
		"POST /api/research/r/pause":       func() error { _, err := c.Control(t.Context(), "r", Pause); return err },
		"DELETE /api/research/r":           func() error { return c.Delete(t.Context(), "r") },
		"GET /api/research/r/report":       func() error { _, err := c.Report(t.Context(), "r", "text/html"); return err },
		"GET /api/research/r/error-output": func() error { _, err := c.ErrorOutput(t.Context(), "r"); return err },
		"GET /api/research/r/snapshot?url=https%3A%2F%2Fa.org%2F%3Fb%3Dc": func() error {
			_, err := c.Snapshot(t.Context(), "r", "https://a.org/?b=c")
			return err
		},
		"GET /api/research?page_size=5&status=done": func() error {
			_, err := c.List(t.Context(), &researchv1.ListResearchesRequest{PageSize: 5, Status: "done"})
			return err
		},
	} {
		require.NoError(t, call(), want)
		require.Equal(t, want, seen.Load())
	}
}

// The gateway of this test breaks the stream after each event, repeats one, and is
// away once.
func TestWatchGoesOnWithoutAGap(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		after := r.Header.Get("Last-Event-ID")
		switch calls.Add(1) {
		case 1:
			require.Equal(t, "0", after)
			fmt.Fprint(w, "retry: 1000\n\n: still here\n\nid: 1\nevent: research.running\ndata: {\"sequence\":1,\"type\":\"research.running\"}\n\n")
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 3:
			require.Equal(t, "1", after)
			fmt.Fprint(w, "id: 1\ndata: {\"sequence\":1}\n\nid: 2\ndata: {\"sequence\":2,\ndata: \"type\":\"query.planned\"}\n\nevent: failure\ndata: {\"message\":\"state is away\"}\n\n")
		case 4:
			require.Equal(t, "2", after)
			fmt.Fprint(w, "id: 3\ndata: {\"sequence\":3,\"unknown_field\":true}\n\n")
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	})
	var got []int32
	err := c.Watch(t.Context(), "r", 0, func(e *researchv1.Event) error {
		got = append(got, e.GetSequence())
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []int32{1, 2, 3}, got)
}

func TestWatchEnds(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"message":"Research not found"}`)
	})
	err := c.Watch(t.Context(), "r", 0, func(*researchv1.Event) error { return nil })
	require.EqualError(t, err, "Research not found")

	c = serve(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "id: 1\ndata: {\"sequence\":1}\n\n")
	})
	enough := errors.New("enough")
	err = c.Watch(t.Context(), "r", 0, func(*researchv1.Event) error { return enough })
	require.ErrorIs(t, err, enough)
}
