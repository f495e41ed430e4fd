package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
)

const (
	reconnectAfter = time.Second
	// patience is how long a gateway may be away in the middle of a watch.
	patience = 2 * time.Minute
	maxEvent = 16 << 20
)

// Watch hands every event after the given one to see, in order and without a gap,
// through breaks of the connection. It returns nil after the last event of a research
// that has ended, or the error of see.
func (c *Client) Watch(ctx context.Context, id string, after int32, see func(*researchv1.Event) error) error {
	w := &watch{client: c, id: id, last: after, see: see}
	alive := time.Now()
	for {
		before := w.last
		err := w.once(ctx)
		switch {
		case err == nil, ctx.Err() != nil:
			return ctx.Err()
		case !passes(err):
			return err
		case w.last != before:
			// The stream ends after its last event: ask at once whether there is more.
			alive = time.Now()
			continue
		case time.Since(alive) > patience:
			return fmt.Errorf("watch research %s: %w", id, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(reconnectAfter):
		}
	}
}

// passes reports whether the same request may succeed later.
func passes(err error) bool {
	var broken *brokenError
	var refused *Error
	return errors.As(err, &broken) || errors.As(err, &refused) && refused.Status >= http.StatusInternalServerError
}

// brokenError is a connection that ended before the research did.
type brokenError struct{ cause error }

func (e *brokenError) Error() string { return "the stream of events broke: " + e.cause.Error() }
func (e *brokenError) Unwrap() error { return e.cause }

type watch struct {
	client *Client
	id     string
	last   int32
	see    func(*researchv1.Event) error
}

// once follows one connection. nil says that the research has ended: the gateway
// answers 204 to a watcher that has all of it.
func (w *watch) once(ctx context.Context) error {
	request, err := w.client.request(ctx, http.MethodGet, route(w.id, "events"), "text/event-stream", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Last-Event-ID", strconv.Itoa(int(w.last)))
	response, err := w.client.http.Do(request)
	if err != nil {
		return &brokenError{err}
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNoContent:
		return nil
	case response.StatusCode != http.StatusOK:
		body, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
		return refusal(response.StatusCode, body)
	}
	return w.follow(response.Body)
}

func (w *watch) follow(body io.Reader) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 64<<10), maxEvent)
	kind, data := "", bytes.Buffer{}
	for lines.Scan() {
		line := lines.Text()
		field, value, _ := strings.Cut(line, ":")
		switch {
		case line == "":
			err := w.event(kind, data.Bytes())
			if err != nil {
				return err
			}
			kind = ""
			data.Reset()
		case field == "event":
			kind = strings.TrimPrefix(value, " ")
		case field == "data":
			data.WriteString(strings.TrimPrefix(value, " "))
		}
	}
	err := lines.Err()
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return &brokenError{err}
}

func (w *watch) event(kind string, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if kind == "failure" {
		return &brokenError{errors.New(string(data))}
	}
	event := new(researchv1.Event)
	err := protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(data, event)
	if err != nil {
		return fmt.Errorf("read an event of research %s: %w", w.id, err)
	}
	if event.GetSequence() <= w.last {
		return nil
	}
	w.last = event.GetSequence()
	return w.see(event)
}
