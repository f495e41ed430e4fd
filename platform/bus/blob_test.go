package bus_test

import (
	"context"
	"crypto/rand"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

func large(t *testing.T) *workv1.Task {
	t.Helper()
	task := search("t1")
	task.Payload = &workv1.Task_Analyze{Analyze: &workv1.AnalyzeTask{Text: rand.Text() + string(make([]byte, 2<<20))}}
	return task
}

func (f *fixture) blobs() jetstream.ObjectStore {
	f.t.Helper()
	js, err := jetstream.New(f.nc)
	require.NoError(f.t, err)
	blobs, err := js.ObjectStore(f.ctx, "BLOBS")
	require.NoError(f.t, err)
	return blobs
}

func (f *fixture) loseBlobs() {
	f.t.Helper()
	list, err := f.blobs().List(f.ctx)
	require.NoError(f.t, err)
	for _, blob := range list {
		require.NoError(f.t, f.blobs().Delete(f.ctx, blob.Name))
	}
}

func TestLargeBodiesGoThroughBlobs(t *testing.T) {
	t.Parallel()
	f := setupSlow(t)
	results := f.results()
	raw := make([]byte, 10<<20)
	_, err := rand.Read(raw)
	require.NoError(t, err)
	task := large(t)
	texts := make(chan string, 1)
	f.publish(task)
	list, err := f.blobs().List(f.ctx)
	require.NoError(t, err)
	require.Len(t, list, 1)

	f.work(bus.Worker{Kind: bus.Analyze, Handle: func(_ context.Context, task *workv1.Task) (*workv1.Result, error) {
		texts <- task.GetAnalyze().GetText()
		return &workv1.Result{Payload: &workv1.Result_Scrape{Scrape: &workv1.ScrapeResult{Raw: raw}}}, nil
	}})
	require.Equal(t, task.GetAnalyze().GetText(), receive(t, texts))
	require.Equal(t, raw, receive(t, results).GetScrape().GetRaw())
	// What is done with leaves nothing behind.
	require.Eventually(t, func() bool {
		_, err := f.blobs().List(f.ctx)
		return err != nil
	}, patience, often)
}

// A task whose body is gone makes no result: it is lost, and found to be.
func TestTaskWithoutItsBlobIsLost(t *testing.T) {
	t.Parallel()
	f := setupSlow(t)
	results := f.results()
	f.publish(large(t))
	f.loseBlobs()
	f.work(bus.Worker{Kind: bus.Analyze, Handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
		return found("never"), nil
	}})
	f.eventuallyEmpty("TASKS")
	held, err := f.Holds(f.ctx, bus.Analyze, "r1", "t1")
	require.NoError(t, err)
	require.False(t, held)
	none(t, results, ackWait)

	// The relay puts the blob again when it publishes again.
	again := large(t)
	again.Delivery++
	f.publish(again)
	require.NotNil(t, receive(t, results).GetSearch())
}

func TestResultWithoutItsBlobIsLost(t *testing.T) {
	t.Parallel()
	f := setupSlow(t)
	f.work(bus.Worker{Handle: func(context.Context, *workv1.Task) (*workv1.Result, error) {
		return &workv1.Result{Payload: &workv1.Result_Scrape{Scrape: &workv1.ScrapeResult{Raw: make([]byte, 2<<20)}}}, nil
	}})
	f.publish(search("t1"))
	f.eventuallyEmpty("TASKS")
	require.EqualValues(t, 1, f.queued("RESULTS"))
	f.loseBlobs()
	results := f.results()
	f.eventuallyEmpty("RESULTS")
	require.Empty(t, results)
	held, err := f.Holds(f.ctx, bus.Search, "r1", "t1")
	require.NoError(t, err)
	require.False(t, held)
}

func TestPublishRefusesATaskThatIsTooLarge(t *testing.T) {
	t.Parallel()
	f := setup(t)
	task := search("t1")
	task.Payload = &workv1.Task_Analyze{Analyze: &workv1.AnalyzeTask{Text: string(make([]byte, 33<<20))}}
	err := f.PublishTask(f.ctx, task)
	var failure *fault.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, fault.TooLarge, failure.Code)
	require.Zero(t, f.queued("TASKS"))
}
