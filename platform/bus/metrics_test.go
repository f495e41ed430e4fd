package bus_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// Not parallel: the meter is the process's.
func TestDeliveriesAreCountedByOutcome(t *testing.T) {
	reader := metric.NewManualReader()
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))
	f := setupSlow(t)
	results := f.results()
	f.work(bus.Worker{Handle: func(_ context.Context, task *workv1.Task) (*workv1.Result, error) {
		if task.GetTaskId() == "bad" {
			return nil, fault.Permanent(fault.NotFound, "gone")
		}
		return found("x"), nil
	}})
	f.publish(search("t1"))
	f.publish(search("t2"))
	f.publish(search("bad"))
	for range 3 {
		receive(t, results)
	}

	counts := func() map[string]int64 {
		var all metricdata.ResourceMetrics
		require.NoError(t, reader.Collect(f.ctx, &all))
		counted := map[string]int64{}
		for _, scope := range all.ScopeMetrics {
			for _, m := range scope.Metrics {
				switch data := m.Data.(type) {
				case metricdata.Sum[int64]:
					for _, point := range data.DataPoints {
						outcome, _ := point.Attributes.Value(attribute.Key("outcome"))
						counted[m.Name+" "+outcome.AsString()] = point.Value
					}
				case metricdata.Histogram[float64]:
					for _, point := range data.DataPoints {
						counted[m.Name] += int64(point.Count)
					}
				}
			}
		}
		return counted
	}
	want := map[string]int64{
		"fathom.tasks ok": 2, "fathom.tasks failed": 1, "fathom.task.queue_wait": 3, "fathom.task.handling": 3,
	}
	require.Eventually(t, func() bool { return counts()["fathom.tasks ok"] == 2 && counts()["fathom.tasks failed"] == 1 }, patience, often)
	require.Equal(t, want, counts())
}
