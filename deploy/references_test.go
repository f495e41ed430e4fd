package deploy_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/testkit/natstest"
)

// scaledObject is what is used of KEDA's.
type scaledObject struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct {
		Name, Namespace string
		Labels          map[string]string
	}
	Spec struct {
		ScaleTargetRef                   struct{ Name string }
		MinReplicaCount, MaxReplicaCount int
		PollingInterval, CooldownPeriod  int
		Fallback                         struct{ FailureThreshold, Replicas int }
		Advanced                         map[string]any
		Triggers                         []struct {
			Type     string
			Metadata map[string]string
		}
	}
}

func matches(t *testing.T, selector *metav1.LabelSelector, w workload) bool {
	t.Helper()
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	require.NoError(t, err)
	return parsed.Matches(labels.Set(w.template.Labels))
}

func checkSelectorsMatch(t *testing.T, m manifests) {
	t.Helper()
	for _, w := range m.workloads {
		require.True(t, labels.SelectorFromSet(w.selector).Matches(labels.Set(w.template.Labels)), w.name)
		for _, spread := range w.template.Spec.TopologySpreadConstraints {
			require.True(t, matches(t, spread.LabelSelector, w), w.name)
		}
	}
	for name, service := range m.services {
		w, known := m.workloads[name]
		require.True(t, known, "the service %s has no pods", name)
		require.True(t, labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(w.template.Labels)), name)
		for _, port := range service.Spec.Ports {
			require.NotZero(t, portNamed(w.container(), port.TargetPort.StrVal), name)
		}
	}
	for name, budget := range m.budgets {
		w, known := m.workloads[name]
		require.True(t, known, "the budget %s has no pods", name)
		require.True(t, matches(t, budget.Spec.Selector, w), name)
	}
}

// A drain or an upgrade takes no pod that nothing stands in for.
func checkReplacement(t *testing.T, m manifests) {
	t.Helper()
	for _, w := range m.ours() {
		require.Contains(t, m.budgets, w.name)
	}
	for _, name := range []string{"gateway", "state", "scraper-proxy"} {
		require.Zero(t, m.workloads[name].deployment.Spec.Strategy.RollingUpdate.MaxUnavailable.IntValue(), name)
	}
}

func TestReplacementInProduction(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gateway", "state"} {
		replicas := render(t, "production").workloads[name].deployment.Spec.Replicas
		require.EqualValues(t, 2, *replicas, name)
	}
}

// workers are who does the tasks of each kind.
var workers = map[bus.Kind]string{
	bus.Questions: "planner", bus.Queries: "planner", bus.Search: "searcher", bus.Scrape: "scraper",
	bus.Analyze: "analyzer", bus.Report: "reporter",
}

// Every kind of task scales its worker, by a consumer that state really makes.
func TestScaling(t *testing.T) {
	t.Parallel()
	connection := natstest.Connect(t)
	opened, err := bus.Open(connection, bus.Options{})
	require.NoError(t, err)
	require.NoError(t, opened.Provision(t.Context()))
	exists := func(stream, consumer string) bool {
		answer, err := connection.Request("$JS.API.CONSUMER.INFO."+stream+"."+consumer, nil, 5*time.Second)
		require.NoError(t, err)
		var told struct {
			Name  string
			Error any
		}
		require.NoError(t, json.Unmarshal(answer.Data, &told))
		return told.Name == consumer && told.Error == nil
	}
	require.False(t, exists("TASKS", "nobody"))

	for _, m := range []manifests{render(t, "production"), render(t, "trial", "keda")} {
		scaled := make(map[bus.Kind]string)
		for name, object := range m.scaledObjects {
			target := object.Spec.ScaleTargetRef.Name
			require.Contains(t, m.workloads, target, name)
			require.Nil(t, m.workloads[target].deployment.Spec.Replicas, "KEDA and apply would fight over %s", target)
			require.Less(t, object.Spec.MinReplicaCount, object.Spec.MaxReplicaCount, name)
			for _, trigger := range object.Spec.Triggers {
				require.Equal(t, "nats-jetstream", trigger.Type, name)
				require.True(t, exists(trigger.Metadata["stream"], trigger.Metadata["consumer"]), "%s: %v", name, trigger.Metadata)
				// KEDA passes over keys that it does not know.
				require.ElementsMatch(t, []string{"natsServerMonitoringEndpoint", "account", "stream", "consumer", "lagThreshold"},
					slices.Collect(maps.Keys(trigger.Metadata)), name)
				scaled[bus.Kind(trigger.Metadata["consumer"])] = target
			}
		}
		require.Equal(t, workers, scaled)
	}
}
