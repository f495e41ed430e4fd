package bus_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

func TestResultIsPublishedAndTaskAcked(t *testing.T) {
	t.Parallel()
	f := setupSlow(t)
	results := f.results()
	f.work(bus.Worker{Handle: func(_ context.Context, task *workv1.Task) (*workv1.Result, error) {
		return found(task.GetSearch().GetQuery()), nil
	}})
	f.publish(search("t1"))

	result := receive(t, results)
	require.Equal(t, "r1", result.GetResearchId())
	require.Equal(t, "t1", result.GetTaskId())
	require.Equal(t, "default", result.GetTenant())
	require.Equal(t, "search", result.GetKind())
	require.EqualValues(t, 2, result.GetAttempt())
	require.EqualValues(t, 1, result.GetDelivery())
	require.NotEmpty(t, result.GetWorker())
	require.False(t, result.GetFinishedAt().AsTime().Before(result.GetStartedAt().AsTime()))
	require.Equal(t, "https://example.org/what t1", result.GetSearch().GetHits()[0].GetUrl())
	f.eventuallyEmpty("TASKS")
	f.eventuallyEmpty("RESULTS")
}

// Whatever a handler returns becomes one result, and the task is gone.
func TestHandlersErrorsBecomeResults(t *testing.T) {
	t.Parallel()
	until := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	tests := map[string]struct {
		handle  bus.Handler
		payload bool
		failure *workv1.Failure
		defers  string
	}{
		"permanent fault": {
			handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
				return nil, fault.Permanent(fault.NotFound, "no such page")
			},
			failure: &workv1.Failure{Code: "not_found", Message: "no such page"},
		},
		"transient fault with a wait": {
			handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
				return nil, fault.Transient(fault.RateLimited, "slow down").After(time.Minute)
			},
			failure: &workv1.Failure{
				Code: "rate_limited", Message: "slow down", Retryable: true,
				RetryAfter: durationpb.New(time.Minute),
			},
		},
		"unknown error": {
			handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
				return nil, errors.New("boom")
			},
			failure: &workv1.Failure{Code: "internal", Message: "boom", Retryable: true},
		},
		"failure with a partial result": {
			handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
				return found("part"), fault.Permanent(fault.OverBudget, "no tokens left")
			},
			payload: true,
			failure: &workv1.Failure{Code: "over_budget", Message: "no tokens left"},
		},
		"deferral": {
			handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
				return found("dropped"), &fault.Deferral{Until: until, Limit: "host:a"}
			},
			defers: "host:a",
		},
		"panic": {
			handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
				panic("at the disco")
			},
			failure: &workv1.Failure{Code: "internal", Message: "the search worker panicked: at the disco", Retryable: true},
		},
		"nothing": {
			handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
				var nothing *workv1.Result
				return nothing, nil
			},
			failure: &workv1.Failure{Code: "internal", Message: "the search worker returned nothing"},
		},
		"too large": {
			handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
				return &workv1.Result{
					Payload: &workv1.Result_Scrape{Scrape: &workv1.ScrapeResult{Raw: make([]byte, 33<<20)}},
					Usage:   &workv1.Usage{ModelCalls: 3},
				}, nil
			},
			failure: &workv1.Failure{Code: "too_large"},
		},
		"invalid text": {
			handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
				return found("\xff"), nil
			},
			failure: &workv1.Failure{Code: "internal"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setupSlow(t)
			results := f.results()
			f.work(bus.Worker{Handle: test.handle})
			f.publish(search("t1"))

			result := receive(t, results)
			require.Equal(t, "t1", result.GetTaskId())
			require.EqualValues(t, 2, result.GetAttempt())
			require.Equal(t, test.payload, result.GetPayload() != nil)
			require.Equal(t, test.failure.GetCode(), result.GetFailure().GetCode())
			if test.failure.GetMessage() != "" {
				require.Equal(t, test.failure.GetMessage(), result.GetFailure().GetMessage())
			}
			require.Equal(t, test.failure.GetRetryable(), result.GetFailure().GetRetryable())
			require.Equal(t, test.failure.GetRetryAfter().AsDuration(), result.GetFailure().GetRetryAfter().AsDuration())
			require.Equal(t, test.defers, result.GetDeferred().GetLimit())
			if test.defers != "" {
				require.True(t, until.Equal(result.GetDeferred().GetUntil().AsTime()))
			}
			if name == "too large" {
				require.EqualValues(t, 3, result.GetUsage().GetModelCalls())
			}
			f.eventuallyEmpty("TASKS")
			f.eventuallyEmpty("RESULTS")
			none(t, results, 2*ackWait)
		})
	}
}

func TestTimeLimitEndsTheHandler(t *testing.T) {
	t.Parallel()
	f := setupSlow(t)
	results := f.results()
	causes := make(chan error, 1)
	f.work(bus.Worker{Handle: func(ctx context.Context, _ *workv1.Task) (*workv1.Result, error) {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return nil, errors.New("the page did not come")
	}})
	task := search("t1")
	task.TimeLimit = durationpb.New(50 * time.Millisecond)
	f.publish(task)

	cause := receive(t, causes)
	require.ErrorIs(t, cause, bus.ErrTimeLimit)
	require.ErrorIs(t, cause, context.DeadlineExceeded)
	failure := receive(t, results).GetFailure()
	require.Equal(t, string(fault.TimedOut), failure.GetCode())
	require.Contains(t, failure.GetMessage(), "the page did not come")
	require.True(t, failure.GetRetryable())
}

// A result that the stream does not take is kept, and the handler is not run again.
func TestResultIsKeptUntilItCanBePublished(t *testing.T) {
	t.Parallel()
	f := setupSlow(t)
	js, err := f.nc.JetStream()
	require.NoError(t, err)
	calls := make(chan struct{}, 10)
	proceed := make(chan struct{})
	f.work(bus.Worker{Handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
		calls <- struct{}{}
		<-proceed
		return found("kept"), nil
	}})
	f.publish(search("t1"))
	receive(t, calls)
	require.NoError(t, js.DeleteStream("RESULTS"))
	close(proceed)
	none(t, calls, 4*ackWait)

	require.NoError(t, f.Provision(f.ctx))
	require.Equal(t, "t1", receive(t, f.results()).GetTaskId())
	f.eventuallyEmpty("TASKS")
	require.Empty(t, calls)
}

// A result that can't be published for as long as the task's limit gives the task up
// to another try.
func TestUnpublishedResultGivesTheTaskBack(t *testing.T) {
	t.Parallel()
	f := setup(t)
	js, err := f.nc.JetStream()
	require.NoError(t, err)
	require.NoError(t, js.DeleteStream("RESULTS"))
	calls := make(chan struct{}, 10)
	f.work(bus.Worker{Handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
		calls <- struct{}{}
		return found("late"), nil
	}})
	task := search("t1")
	task.TimeLimit = durationpb.New(ackWait)
	f.publish(task)
	receive(t, calls)
	receive(t, calls)

	require.NoError(t, f.Provision(f.ctx))
	require.Equal(t, "t1", receive(t, f.results()).GetTaskId())
	f.eventuallyEmpty("TASKS")
}

func TestMalformedTaskIsBuriedAndFails(t *testing.T) {
	t.Parallel()
	tests := map[string][]byte{
		"not a task":   []byte("\xff\xff not protobuf"),
		"nothing":      nil,
		"another task": encode(t, search("t2")),
	}
	for name, body := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setupSlow(t)
			results := f.results()
			f.work(bus.Worker{Handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
				return found("never"), nil
			}})
			js, err := f.nc.JetStream()
			require.NoError(t, err)
			_, err = js.PublishMsg(&nats.Msg{
				Subject: "fathom.task.search.r1.t1", Data: body,
				Header: nats.Header{nats.MsgIdHdr: []string{"t1/3/4"}},
			})
			require.NoError(t, err)

			result := receive(t, results)
			require.Equal(t, "r1", result.GetResearchId())
			require.Equal(t, "t1", result.GetTaskId())
			require.Equal(t, "search", result.GetKind())
			require.EqualValues(t, 3, result.GetAttempt())
			require.EqualValues(t, 4, result.GetDelivery())
			require.Equal(t, string(fault.Malformed), result.GetFailure().GetCode())
			require.False(t, result.GetFailure().GetRetryable())
			f.eventuallyEmpty("TASKS")

			dead, err := f.DeadTasks(f.ctx, "r1")
			require.NoError(t, err)
			require.Len(t, dead, 1)
			require.Equal(t, "t1", dead[0].TaskID)
			require.Equal(t, bus.Search, dead[0].Kind)
			require.Equal(t, string(fault.Malformed), dead[0].Failure.GetCode())
			require.Equal(t, body, dead[0].Body)
		})
	}
}
