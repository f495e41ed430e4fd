package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

var errInjected = errors.New("injected")

// network is what lies between state and the workers, at its worst: messages and
// results are lost, doubled and reordered, tries fail, and transactions are rolled
// back or their answer is lost.
type network struct {
	*world
	random  *rand.Rand
	tasks   []*workv1.Task
	results []*workv1.Result
}

func (n *network) hit(percent int) bool { return n.random.IntN(100) < percent }

func (n *network) hooks() store.Hooks {
	return store.Hooks{
		BeforeCommit: func(context.Context) error {
			if n.hit(10) {
				return errInjected
			}
			return nil
		},
		AfterCommit: func(context.Context) error {
			if n.hit(5) {
				return errInjected
			}
			return nil
		},
	}
}

// TestAnyOrderHasTheSameOutcome drives researches through the real store over a
// network that does everything wrong. Each seed is another history.
func TestAnyOrderHasTheSameOutcome(t *testing.T) {
	t.Parallel()
	url := database(t)
	for seed := range uint64(24) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			n := &network{random: rand.New(rand.NewPCG(seed, 1))}
			n.world = newWorld(t, url, n.hooks())
			depth, breadth := 1+n.random.IntN(3), 1+n.random.IntN(4)
			id := n.begin(t, depth, breadth)
			n.run(t, id)
			requireOutcome(t, n.world, id, depth, breadth)
			require.Contains(t, []workflow.Status{workflow.Completed, workflow.Failed}, n.status(t, id))
			require.Equal(t, 1, n.count(t, "SELECT count(*) FROM report WHERE research_id = $1", id))
		})
	}
}

func (n *network) begin(t *testing.T, depth, breadth int) string {
	t.Helper()
	research := store.NewResearch{ID: store.NewID(), Tenant: tenant, Prompt: "prompt", NumQuestions: 1}
	key := &store.KeyClaim{Method: "create", Key: research.ID, Digest: []byte("body")}
	id := ""
	n.insist(t, func(ctx context.Context) error {
		research.ID = store.NewID()
		made, err := n.engine.Create(ctx, research, key)
		id = made
		return err
	})
	for n.status(t, id) != workflow.Ready {
		n.turn(t)
	}
	n.insist(t, func(ctx context.Context) error { return n.engine.Start(ctx, tenant, id, startRequest(depth, breadth)) })
	return id
}

func (n *network) run(t *testing.T, id string) {
	t.Helper()
	late := time.Now().Add(time.Minute)
	for !n.status(t, id).Ended() || len(n.tasks)+len(n.results) > 0 {
		n.turn(t)
		require.True(t, time.Now().Before(late), "the research hangs")
	}
}

// insist repeats what failed by injection until its answer arrives.
func (n *network) insist(t *testing.T, do func(ctx context.Context) error) {
	t.Helper()
	for {
		err := do(t.Context())
		if err == nil {
			return
		}
		require.ErrorIs(t, err, errInjected)
	}
}

// turn lets something happen.
func (n *network) turn(t *testing.T) {
	t.Helper()
	n.relay(t)
	n.sweep(t)
	for range 1 + n.random.IntN(6) {
		if len(n.tasks) > 0 {
			n.work(n.take())
		}
	}
	for range 1 + n.random.IntN(6) {
		if len(n.results) > 0 {
			n.deliver(t)
		}
	}
}

// relay publishes what is due. Some messages are lost, some come twice, and some
// are not marked as published.
func (n *network) relay(t *testing.T) {
	t.Helper()
	claimed, err := n.store.Claim(t.Context(), 1+n.random.IntN(20), time.Millisecond)
	require.NoError(t, err)
	for _, c := range claimed {
		task, err := n.builder.Build(t.Context(), c.Task)
		require.NoError(t, err)
		for range n.random.IntN(3) {
			n.tasks = append(n.tasks, task)
		}
		if n.hit(90) && c.Kind != bus.Scrape {
			require.NoError(t, n.store.MarkSent(t.Context(), []store.Task{c.Task}))
		} else if n.hit(90) {
			err := n.engine.Published(t.Context(), c.Tenant, c.ResearchID, []store.Task{c.Task})
			require.True(t, err == nil || errors.Is(err, errInjected), err)
		}
	}
}

// sweep publishes again what is neither a message nor a result.
func (n *network) sweep(t *testing.T) {
	t.Helper()
	suspects, err := n.store.Suspects(t.Context(), 0, 100)
	require.NoError(t, err)
	held := make(map[string]bool)
	for _, task := range n.tasks {
		held[task.GetTaskId()] = true
	}
	for _, result := range n.results {
		held[result.GetTaskId()] = true
	}
	for _, task := range suspects {
		if held[task.ID] {
			require.NoError(t, n.store.Seen(t.Context(), task))
			continue
		}
		_, err := n.engine.Lost(t.Context(), task)
		require.True(t, err == nil || errors.Is(err, errInjected), err)
	}
}

func (n *network) take() *workv1.Task {
	i := n.random.IntN(len(n.tasks))
	task := n.tasks[i]
	n.tasks[i] = n.tasks[len(n.tasks)-1]
	n.tasks = n.tasks[:len(n.tasks)-1]
	return task
}

// work does a task. A try may fail as long as it is not the last one.
func (n *network) work(task *workv1.Task) {
	result := answer(task)
	switch {
	case n.hit(10) && task.GetAttempt() < 3 && result.GetFailure() == nil:
		result = failure(task, fault.Transient(fault.Unavailable, "a bad moment"))
	case n.hit(5):
		result = reply(task)
		result.Deferred = &workv1.Deferred{Until: timestamppb.Now(), Limit: "host:example.org"}
	}
	for range 1 + n.random.IntN(2) {
		n.results = append(n.results, proto.CloneOf(result))
	}
}

// deliver applies a result. It is gone only after its answer arrived, and sometimes
// not even then.
func (n *network) deliver(t *testing.T) {
	t.Helper()
	i := n.random.IntN(len(n.results))
	_, err := n.engine.Apply(t.Context(), n.results[i])
	if err != nil {
		require.ErrorIs(t, err, errInjected)
		return
	}
	if n.hit(90) {
		n.results[i] = n.results[len(n.results)-1]
		n.results = n.results[:len(n.results)-1]
	}
}
