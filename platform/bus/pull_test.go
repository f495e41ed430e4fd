package bus_test

import (
	"bytes"
	"context"
	"log/slog"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/bus"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/testkit/natstest"
)

// written is a log that several goroutines write.
type written struct {
	mu  sync.Mutex
	log bytes.Buffer
}

func (w *written) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(line)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}

// The client forgot to ask for the next message about once in 8,000: its consumer then
// did nothing for four seconds, and said that heartbeats were missing.
func TestNoPullIsForgotten(t *testing.T) {
	t.Parallel()
	var log written
	b, err := bus.Open(natstest.Connect(t), bus.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	require.NoError(t, b.Provision(t.Context()))
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	applied := make(chan struct{}, 1)
	running.Go(func() { _ = b.Work(ctx, bus.Worker{Kind: bus.Search, Slots: 16, Handle: echo}) })
	running.Go(func() {
		_ = b.Results(ctx, 16, func(context.Context, *workv1.Result) error {
			applied <- struct{}{}
			return nil
		})
	})
	const tasks, underway = 20_000, 16
	for i := range tasks + underway {
		if i >= underway {
			<-applied
		}
		if i < tasks {
			require.NoError(t, b.PublishTask(ctx, search("t"+strconv.Itoa(i))))
		}
	}
	stop()
	running.Wait()
	require.NotContains(t, log.String(), "no heartbeat")
}
