package workflow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

func TestRetryPolicy(t *testing.T) {
	t.Parallel()
	policy := workflow.RetryPolicy{Attempts: 4, Base: time.Second, Max: 3 * time.Second}
	for _, c := range []struct {
		name   string
		in     workflow.Failure
		jitter float64
		wait   time.Duration
		again  bool
	}{
		{"first", workflow.Failure{Retryable: true}, 0, time.Second, true},
		{"second doubles", workflow.Failure{Attempt: 1, Retryable: true}, 0, 2 * time.Second, true},
		{"third is capped", workflow.Failure{Attempt: 2, Retryable: true}, 0, 3 * time.Second, true},
		{"jitter adds up to a half", workflow.Failure{Retryable: true}, 0.5, 1250 * time.Millisecond, true},
		{"the fourth is the last", workflow.Failure{Attempt: 3, Retryable: true}, 0, 0, false},
		{"permanent", workflow.Failure{}, 0, 0, false},
		{"the other side's wish is kept", workflow.Failure{Retryable: true, RetryAfter: time.Minute}, 0.9, time.Minute, true},
		{"a huge attempt does not overflow", workflow.Failure{Attempt: 1 << 30, Retryable: true}, 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wait, again := policy.Again(c.in, c.jitter)
			require.Equal(t, c.again, again)
			require.Equal(t, c.wait, wait)
		})
	}
}
