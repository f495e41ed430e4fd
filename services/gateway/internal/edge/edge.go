// Package edge is what every request passes: its id, the log of it, what no handler
// may do twice or forget.
package edge

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/fathom-research/fathom/services/gateway/internal/problem"
)

// RequestID is the header that carries a request's id, in and out, and to state.
const RequestID = "X-Request-Id"

const maxRequestID = 128

// Wrap gives each request an id, logs it, and answers 500 for a handler that panics.
// A request from another website is refused when it would change something: as long
// as there is no access control, a page that a person merely visits must not be able
// to use the gateway on their machine.
func Wrap(next http.Handler, log *slog.Logger) http.Handler {
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		problem.Write(w, r, log, problem.New(http.StatusForbidden, codes.PermissionDenied, "Requests from another website are refused"))
	}))
	guarded := guard.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := requestID(r.Header.Get(RequestID))
		w.Header().Set(RequestID, id)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		ctx := metadata.AppendToOutgoingContext(r.Context(), "x-request-id", id)
		seen := &recorder{ResponseWriter: w}
		began := time.Now()
		request := r.WithContext(ctx)
		defer func() {
			logAccess(ctx, log, request, seen, id, began)
		}()
		defer rescue(seen, request, log)
		guarded.ServeHTTP(seen, request)
	})
}

func logAccess(ctx context.Context, log *slog.Logger, r *http.Request, seen *recorder, id string, began time.Time) {
	log.DebugContext(ctx, "request", "request_id", id, "method", r.Method, "path", r.URL.Path,
		"status", seen.status, "bytes", seen.bytes, "dur", time.Since(began), "remote", r.RemoteAddr)
}

// rescue keeps a bug in one handler from being a cut connection without a word.
// http.ErrAbortHandler is how a handler cuts one on purpose.
func rescue(seen *recorder, r *http.Request, log *slog.Logger) {
	reason := recover()
	if reason == nil {
		return
	}
	aborted, isError := reason.(error)
	if isError && errors.Is(aborted, http.ErrAbortHandler) || seen.status != 0 {
		panic(reason)
	}
	log.ErrorContext(r.Context(), "handler panicked", "reason", reason, "stack", string(debug.Stack()))
	problem.Write(seen, r, log, status.Error(codes.Internal, "panic"))
}

// requestID takes the caller's id over when it can stand in a log, else makes one.
func requestID(given string) string {
	if given != "" && len(given) <= maxRequestID && !hasOdd(given) {
		return given
	}
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return hex.EncodeToString(random[:])
}

func hasOdd(id string) bool {
	for _, r := range id {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && r != '-' && r != '_' && r != '.' && r != ':' {
			return true
		}
	}
	return false
}

// writeTimeout bounds the sending of an answer from its first byte on, so that a
// client that stopped reading does not hold it for ever. Streams set their own.
const writeTimeout = 10 * time.Minute

// recorder remembers what was answered.
type recorder struct {
	http.ResponseWriter

	status int
	bytes  int64
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
		// A writer without deadlines has a client that can't be slow.
		_ = http.NewResponseController(r.ResponseWriter).SetWriteDeadline(time.Now().Add(writeTimeout))
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(body []byte) (int, error) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	n, err := r.ResponseWriter.Write(body)
	r.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Flush is for handlers that ask for an http.Flusher.
func (r *recorder) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() }
