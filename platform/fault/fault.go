// Package fault is the one error type that workers, state and the gateway share:
// a code out of a closed list, a message for people, and whether another try may
// help. Only the gateway turns it into HTTP.
package fault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// Code says why something ended as it did. It is stored as the reason of queries
// and websites, counted in metrics, and summed up in the report's note on method.
type Code string

// The closed list of codes.
const (
	OK             Code = "ok"
	Empty          Code = "empty"           // a search without hits, a page without text
	NotFound       Code = "not_found"       // 404, 410
	Blocked        Code = "blocked"         // 401, 403, a bot wall
	Robots         Code = "robots"          // robots.txt forbids it
	TimedOut       Code = "timed_out"       // the work's own time limit
	RateLimited    Code = "rate_limited"    // 429, or the provider's quota
	Unavailable    Code = "unavailable"     // 5xx, no connection
	RefusedAddress Code = "refused_address" // a private address, another scheme or port
	Unreadable     Code = "unreadable"      // a type that can't be read, broken content
	TooLarge       Code = "too_large"
	InvalidAnswer  Code = "invalid_answer" // a model's answer that stays unusable
	OverBudget     Code = "over_budget"
	Deadline       Code = "deadline" // the research's own deadline
	Cancelled      Code = "cancelled"
	WorkerDied     Code = "worker_died"
	Malformed      Code = "malformed" // a task that can't be decoded
	Misconfigured  Code = "misconfigured"
	Internal       Code = "internal"
)

// Codes lists every code.
var Codes = []Code{
	OK, Empty, NotFound, Blocked, Robots, TimedOut, RateLimited, Unavailable,
	RefusedAddress, Unreadable, TooLarge, InvalidAnswer, OverBudget, Deadline,
	Cancelled, WorkerDied, Malformed, Misconfigured, Internal,
}

// Error is a failure of a known kind.
type Error struct {
	Code      Code
	Message   string
	Retryable bool
	// RetryAfter is the shortest wait that the other side asked for; 0 is none.
	RetryAfter time.Duration
	cause      error
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.cause }

// Permanent is a failure that another try would meet again.
func Permanent(code Code, format string, args ...any) *Error {
	return build(code, false, format, args)
}

// Transient is a failure that may be gone at the next try.
func Transient(code Code, format string, args ...any) *Error {
	return build(code, true, format, args)
}

func build(code Code, retryable bool, format string, args []any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Retryable: retryable, cause: errors.Unwrap(err)}
}

// After sets the shortest wait before another try and returns e.
func (e *Error) After(wait time.Duration) *Error {
	e.RetryAfter = wait
	return e
}

// Deferral is returned by a worker that got no rate token: no try was made.
type Deferral struct {
	Until time.Time
	Limit string
}

func (d *Deferral) Error() string {
	return fmt.Sprintf("limit %s leaves no room before %s", d.Limit, d.Until.Format(time.RFC3339))
}

// ToProto makes the failure that a result carries. An error of unknown kind is
// internal and may be tried again; a context's end is timed_out.
func ToProto(err error) *workv1.Failure {
	e := As(err)
	f := &workv1.Failure{Code: string(e.Code), Message: e.Error(), Retryable: e.Retryable}
	if e.RetryAfter > 0 {
		f.RetryAfter = durationpb.New(e.RetryAfter)
	}
	return f
}

// As finds the Error in err, or makes the one that stands for it.
func As(err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e):
		if err.Error() == e.Error() {
			return e
		}
		// Keep the context that callers wrapped around it.
		return &Error{Code: e.Code, Message: err.Error(), Retryable: e.Retryable, RetryAfter: e.RetryAfter}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: TimedOut, Message: err.Error(), Retryable: true}
	case errors.Is(err, context.Canceled):
		return &Error{Code: Cancelled, Message: err.Error(), Retryable: true}
	default:
		return &Error{Code: Internal, Message: err.Error(), Retryable: true}
	}
}
