package fault_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

func TestToProto(t *testing.T) {
	t.Parallel()
	cause := errors.New("connection refused")
	tests := map[string]struct {
		err  error
		want *workv1.Failure
	}{
		"permanent": {
			err:  fault.Permanent(fault.NotFound, "status %d", 404),
			want: &workv1.Failure{Code: "not_found", Message: "status 404"},
		},
		"transient with a wait": {
			err:  fault.Transient(fault.RateLimited, "slow down").After(2 * time.Second),
			want: &workv1.Failure{Code: "rate_limited", Message: "slow down", Retryable: true, RetryAfter: durationpb.New(2 * time.Second)},
		},
		"wrapped: the context is kept": {
			err:  fmt.Errorf("search %q: %w", "x", fault.Transient(fault.Unavailable, "ask: %w", cause).After(time.Second)),
			want: &workv1.Failure{Code: "unavailable", Message: `search "x": ask: connection refused`, Retryable: true, RetryAfter: durationpb.New(time.Second)},
		},
		"unknown": {
			err:  cause,
			want: &workv1.Failure{Code: "internal", Message: "connection refused", Retryable: true},
		},
		"deadline": {
			err:  fmt.Errorf("read: %w", context.DeadlineExceeded),
			want: &workv1.Failure{Code: "timed_out", Message: "read: context deadline exceeded", Retryable: true},
		},
		"cancelled": {
			err:  context.Canceled,
			want: &workv1.Failure{Code: "cancelled", Message: "context canceled", Retryable: true},
		},
		"a known failure that a deadline caused": {
			err:  fault.Permanent(fault.Blocked, "wall: %w", context.DeadlineExceeded),
			want: &workv1.Failure{Code: "blocked", Message: "wall: context deadline exceeded"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.True(t, proto.Equal(test.want, fault.ToProto(test.err)), "%v", fault.ToProto(test.err))
		})
	}
}

func TestErrorKeepsItsCause(t *testing.T) {
	t.Parallel()
	cause := errors.New("connection refused")
	require.ErrorIs(t, fault.Transient(fault.Unavailable, "ask: %w", cause), cause)
	require.ErrorIs(t, fault.Transient(fault.Unavailable, "ask %s: %w", "x", cause), cause)
	require.NotErrorIs(t, fault.Permanent(fault.Unavailable, "ask: %v", cause), cause)
}

func TestCodesAreDistinct(t *testing.T) {
	t.Parallel()
	seen := map[fault.Code]bool{}
	for _, code := range fault.Codes {
		require.NotEmpty(t, code)
		require.False(t, seen[code], code)
		seen[code] = true
	}
}

func TestDeferralSaysWhen(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	err := &fault.Deferral{Until: until, Limit: "host:example.org"}
	require.Equal(t, "limit host:example.org leaves no room before 2026-11-21T03:00:00Z", err.Error())
}
