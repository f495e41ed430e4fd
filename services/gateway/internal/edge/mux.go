package edge

import (
	"log/slog"
	"net/http"

	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/codes"

	"github.com/fathom-research/fathom/services/gateway/internal/problem"
)

// Routes is mux with its own 404 and 405 as JSON. The request's span is named after
// its route.
func Routes(mux *http.ServeMux, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler, pattern := mux.Handler(r)
		if pattern != "" {
			trace.SpanFromContext(r.Context()).SetName(pattern)
			mux.ServeHTTP(w, r)
			return
		}
		refusal := refusal{header: make(http.Header)}
		handler.ServeHTTP(&refusal, r)
		if refusal.status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", refusal.header.Get("Allow"))
			problem.Write(w, r, log, problem.New(http.StatusMethodNotAllowed, codes.Unimplemented,
				r.Method+" is not served here, only "+refusal.header.Get("Allow")))
			return
		}
		problem.Write(w, r, log, problem.New(http.StatusNotFound, codes.NotFound, "There is nothing at this address"))
	})
}

// refusal receives the plain answer of a ServeMux.
type refusal struct {
	header http.Header
	status int
}

func (r *refusal) Header() http.Header            { return r.header }
func (r *refusal) WriteHeader(status int)         { r.status = status }
func (r *refusal) Write(body []byte) (int, error) { return len(body), nil }
