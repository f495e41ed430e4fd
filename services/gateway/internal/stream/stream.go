// Package stream serves a research's events as server-sent events.
package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"time"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	"github.com/fathom-research/fathom/services/gateway/internal/input"
	"github.com/fathom-research/fathom/services/gateway/internal/problem"
)

const (
	// settle is how long the answer waits for the first event, so that an unknown
	// research can still be a 404.
	settle = 250 * time.Millisecond
	// writeTimeout is how long a client may leave one event unread.
	writeTimeout = 30 * time.Second
	// reconnect is how soon a client comes back after a stream that was cut.
	reconnect = 1000
)

// Handler serves GET …/{research_id}/events.
type Handler struct {
	Client    researchv1.ResearchServiceClient
	Log       *slog.Logger
	Heartbeat time.Duration
	// Closing is closed when the gateway drains: clients are sent elsewhere.
	Closing <-chan struct{}
}

// ServeHTTP sends every event after the client's last one, without a gap and in
// order, and ends after the last one of the research. A client that comes back after
// that gets 204, which tells a browser's EventSource to stop.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	after, err := lastEvent(r)
	if err != nil {
		problem.Write(w, r, h.Log, err)
		return
	}
	id := r.PathValue("research_id")
	err = input.Text("research_id", id)
	if err != nil {
		problem.Write(w, r, h.Log, err)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	events := h.receive(ctx, id, after)
	select {
	case first := <-events:
		h.begin(w, r, first, events)
	case <-time.After(settle):
		h.begin(w, r, item{}, events)
	case <-ctx.Done():
	}
}

// begin answers by what came first: nothing yet, an event, the end, or a failure.
func (h *Handler) begin(w http.ResponseWriter, r *http.Request, first item, events <-chan item) {
	switch {
	case errors.Is(first.err, io.EOF):
		w.WriteHeader(http.StatusNoContent)
		return
	case first.err != nil:
		problem.Write(w, r, h.Log, first.err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := &writer{w: w, control: http.NewResponseController(w)}
	if r.Method == http.MethodHead {
		return
	}
	err := out.send(fmt.Sprintf("retry: %d\n\n", reconnect))
	if err == nil && first.event != nil {
		err = out.event(first.event)
	}
	if err == nil {
		err = h.follow(r.Context(), out, events)
	}
	if err != nil {
		h.Log.DebugContext(r.Context(), "stream of events cut", "error", err)
	}
}

func (h *Handler) follow(ctx context.Context, out *writer, events <-chan item) error {
	heartbeat := time.NewTicker(h.Heartbeat)
	defer heartbeat.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-h.Closing:
			return out.send(": the server restarts, come back\n\n")
		case <-heartbeat.C:
			err := out.send(": still here\n\n")
			if err != nil {
				return err
			}
		case next := <-events:
			if errors.Is(next.err, io.EOF) {
				return nil
			}
			if next.err != nil {
				return errors.Join(next.err, out.failure(next.err))
			}
			err := out.event(next.event)
			if err != nil {
				return err
			}
			heartbeat.Reset(h.Heartbeat)
		}
	}
}

// lastEvent is the sequence number that the client has: EventSource sends it in a
// header, a first connection may give it as a parameter.
func lastEvent(r *http.Request) (int32, error) {
	values, err := input.Query(r, "last_event_id")
	if err != nil {
		return 0, err
	}
	header := r.Header.Get("Last-Event-ID")
	if header != "" {
		return input.Integer("Last-Event-ID", header, 0, math.MaxInt32)
	}
	return input.Integer("last_event_id", values.Get("last_event_id"), 0, math.MaxInt32)
}

// writer writes one client's stream.
type writer struct {
	w       io.Writer
	control *http.ResponseController
}

// send writes and flushes, or fails when the client does not read.
func (o *writer) send(text string) error {
	// A writer without deadlines has a client that can't be slow.
	_ = o.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err := io.WriteString(o.w, text)
	if err != nil {
		return fmt.Errorf("send an event: %w", err)
	}
	return o.control.Flush()
}

func (o *writer) event(event *researchv1.Event) error {
	data, err := protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true}.Marshal(event)
	if err != nil {
		return fmt.Errorf("write event %d: %w", event.GetSequence(), err)
	}
	return o.send(fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", event.GetSequence(), oneLine(event.GetType()), data))
}

// failure tells the client why the stream ends early. It has no id: the client comes
// back for what it misses.
func (o *writer) failure(err error) error {
	_, body := problem.Describe(status.Convert(err).Err())
	return o.send(fmt.Sprintf("event: failure\ndata: %s\n\n", problem.Marshal(body)))
}

func oneLine(text string) string { return strings.NewReplacer("\r", " ", "\n", " ").Replace(text) }
