// Package problem is how the gateway says that something went wrong: always a
// google.rpc.Status as JSON, with the HTTP status that fits.
package problem

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/protoadapt"
)

// idempotencyMismatch is the ErrorInfo reason of a key that was used for another body.
const idempotencyMismatch = "IDEMPOTENCY_MISMATCH"

// statusClientClosed is what proxies log when the client went away first.
const statusClientClosed = 499

// Invalid is bad input in one field. The message is a sentence that names the
// field and the rule.
func Invalid(field, message string) error {
	return detailed(status.New(codes.InvalidArgument, message), &errdetails.BadRequest{
		FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: field, Description: message}},
	})
}

func detailed(s *status.Status, detail protoadapt.MessageV1) error {
	with, err := s.WithDetails(detail)
	if err != nil {
		return s.Err()
	}
	return with.Err()
}

// coded is an error whose HTTP status is not the one of its gRPC code.
type coded struct {
	error

	http int
}

func (c coded) Unwrap() error { return c.error }

// New is an error with an HTTP status of its own.
func New(httpStatus int, code codes.Code, message string) error {
	return coded{error: status.Error(code, message), http: httpStatus}
}

// Write answers with err. What only operators may know (internal errors) is logged
// and not sent.
func Write(w http.ResponseWriter, r *http.Request, log *slog.Logger, err error) {
	ctx := r.Context()
	code, body := Describe(err)
	if code >= http.StatusInternalServerError && code != http.StatusServiceUnavailable {
		log.ErrorContext(ctx, "request failed", "method", r.Method, "path", r.URL.Path, "status", code,
			"request_id", w.Header().Get("X-Request-Id"), "error", err)
	}
	if code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "2")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	// The client may be gone; nobody is left to be told.
	_, _ = w.Write(Marshal(body))
}

// Describe is the HTTP status and the body for err.
func Describe(err error) (int, *spb.Status) {
	s := status.Convert(err)
	var own coded
	if errors.As(err, &own) {
		return own.http, status.Convert(own.error).Proto()
	}
	if errors.Is(err, context.Canceled) {
		return statusClientClosed, status.New(codes.Canceled, "the client went away").Proto()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return http.StatusGatewayTimeout, status.New(codes.DeadlineExceeded, "the answer took too long").Proto()
	}
	code := httpStatus(s)
	if code == http.StatusInternalServerError {
		return code, status.New(codes.Internal, "internal error; the server's log says more").Proto()
	}
	return code, s.Proto()
}

// Marshal writes a Status as JSON. Details of unknown types are left out.
func Marshal(s *spb.Status) []byte {
	options := protojson.MarshalOptions{EmitUnpopulated: true}
	body, err := options.Marshal(s)
	if err == nil {
		return body
	}
	body, err = options.Marshal(&spb.Status{Code: s.GetCode(), Message: s.GetMessage()})
	if err != nil {
		return []byte(`{"code":13,"message":"internal error","details":[]}`)
	}
	return body
}

func httpStatus(s *status.Status) int {
	switch s.Code() {
	case codes.OK:
		return http.StatusOK
	case codes.Canceled:
		return statusClientClosed
	case codes.InvalidArgument, codes.OutOfRange:
		if hasReason(s, idempotencyMismatch) {
			return http.StatusUnprocessableEntity
		}
		return http.StatusBadRequest
	case codes.NotFound:
		return http.StatusNotFound
	case codes.FailedPrecondition, codes.AlreadyExists, codes.Aborted:
		return http.StatusConflict
	case codes.DeadlineExceeded:
		return http.StatusGatewayTimeout
	case codes.Unavailable:
		return http.StatusServiceUnavailable
	case codes.ResourceExhausted:
		return http.StatusTooManyRequests
	case codes.Unauthenticated:
		return http.StatusUnauthorized
	case codes.PermissionDenied:
		return http.StatusForbidden
	case codes.Unimplemented:
		return http.StatusNotImplemented
	case codes.Internal, codes.Unknown, codes.DataLoss:
		return http.StatusInternalServerError
	default:
		return http.StatusInternalServerError
	}
}

func hasReason(s *status.Status, reason string) bool {
	for _, detail := range s.Details() {
		info, ok := detail.(*errdetails.ErrorInfo)
		if ok && info.GetReason() == reason {
			return true
		}
	}
	return false
}
