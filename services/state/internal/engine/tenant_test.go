package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	"github.com/fathom-research/fathom/services/state/internal/engine"
	"github.com/fathom-research/fathom/services/state/internal/store"
)

// newWorldOfTenants is a world whose tenants have a budget.
func newWorldOfTenants(t testing.TB, hooks store.Hooks, budget store.Budget) *world {
	t.Helper()
	s := settings()
	s.Tenant = budget
	return newWorldWith(t, database(t), hooks, s)
}

func (w *world) createFor(ctx context.Context, tenant string, key *store.KeyClaim) (string, error) {
	return w.engine.Create(ctx, store.NewResearch{ID: store.NewID(), Tenant: tenant, Prompt: "prompt", NumQuestions: 1}, key)
}

// ready makes n researches of a tenant that wait to be started.
func (w *world) ready(t testing.TB, tenant string, n int) []string {
	t.Helper()
	ids := make([]string, n)
	for i := range ids {
		id, err := w.createFor(t.Context(), tenant, nil)
		require.NoError(t, err)
		ids[i] = id
	}
	for w.step(t, "") {
		continue
	}
	return ids
}

// usage is what the books of a tenant say.
func (w *world) usage(t testing.TB, tenant string) store.Used {
	t.Helper()
	var u store.Used
	w.read(t, []any{&u.InputTokens, &u.OutputTokens, &u.Reserved, &u.Queries, &u.Pages},
		"SELECT input_tokens, output_tokens, reserved_tokens, queries, pages FROM tenant_usage WHERE tenant = $1", tenant)
	return u
}

func (w *world) read(t testing.TB, into []any, sql string, args ...any) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, w.url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(ctx) }()
	require.NoError(t, conn.QueryRow(ctx, sql, args...).Scan(into...))
}

// falseBooks counts the tenants whose books are not what their researches, those
// that were deleted included, come to.
const falseBooks = `SELECT count(*) FROM (
	SELECT u.input_tokens - u.deleted_input_tokens, u.output_tokens - u.deleted_output_tokens, u.reserved_tokens,
		u.queries - u.deleted_queries, u.pages - u.deleted_pages FROM tenant_usage u LEFT JOIN research r ON r.tenant = u.tenant
	GROUP BY u.tenant HAVING (u.input_tokens - u.deleted_input_tokens, u.output_tokens - u.deleted_output_tokens,
		u.reserved_tokens, u.queries - u.deleted_queries, u.pages - u.deleted_pages)
	<> (coalesce(sum(r.input_tokens), 0), coalesce(sum(r.output_tokens), 0), coalesce(sum(r.reserved_tokens), 0),
		coalesce(sum(r.queries_made), 0), coalesce(sum(r.pages_used), 0))) wrong`

// TestParallelReservationsOfTwoTenants starts 200 researches at once, each of which
// has a plan and a report set aside: 150 of a tenant that can pay 60, and 50 of one
// that can pay them all. Then workers use all that they may.
func TestParallelReservationsOfTwoTenants(t *testing.T) {
	t.Parallel()
	const payable, each, asked = 60, 1000 + 5000, 11
	budget := int64(payable*each + 150*asked + each - 1)
	w := newWorldOfTenants(t, store.Hooks{}, store.Budget{Tokens: budget})
	type request struct{ tenant, id string }
	var requests []request
	for tenant, n := range map[string]int{"many": 150, "few": 50} {
		for _, id := range w.ready(t, tenant, n) {
			requests = append(requests, request{tenant, id})
		}
	}
	rand.Shuffle(len(requests), func(i, j int) { requests[i], requests[j] = requests[j], requests[i] })

	started := map[string]*atomic.Int64{"many": {}, "few": {}}
	var group errgroup.Group
	for _, r := range requests {
		group.Go(func() error {
			err := w.engine.Start(t.Context(), r.tenant, r.id, startRequest(1, 2))
			var over *engine.BudgetError
			if err == nil {
				started[r.tenant].Add(1)
			} else if !errors.As(err, &over) || over.Budget != "tenant_tokens" {
				return err
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	require.EqualValues(t, payable, started["many"].Load())
	require.EqualValues(t, 50, started["few"].Load(), "another's exhaustion is none of its business")
	require.EqualValues(t, payable*each, w.usage(t, "many").Reserved)
	require.EqualValues(t, 50*each, w.usage(t, "few").Reserved)

	w.workGreedily(t)
	for tenant, reports := range map[string]int{"many": payable, "few": 50} {
		used := w.usage(t, tenant)
		require.LessOrEqual(t, used.InputTokens+used.OutputTokens, budget)
		require.Zero(t, used.Reserved)
		require.Equal(t, reports, w.count(t, "SELECT count(*) FROM report WHERE tenant = $1", tenant), "a report is always kept back")
	}
	require.Equal(t, payable, w.count(t, `SELECT count(*) FROM research WHERE tenant = 'many'
		AND reason = 'over_budget' AND error_message LIKE 'The tenant%'`))
	require.Zero(t, w.count(t, falseBooks))
}

// workGreedily works until nothing is due, 32 workers at once that use all that they
// may, some of them in vain.
func (w *world) workGreedily(t testing.TB) {
	t.Helper()
	for late := time.Now().Add(2 * time.Minute); w.count(t, "SELECT count(*) FROM task WHERE state IN ('due', 'published')") > 0; {
		require.True(t, time.Now().Before(late), "the researches hang")
		var group errgroup.Group
		group.SetLimit(32)
		for _, task := range w.publish(t) {
			result := greedy(task)
			if bus.KindOf(task) == bus.Analyze && task.GetAttempt() == 0 && rand.IntN(3) == 0 {
				result.Payload, result.Failure = nil, fault.ToProto(fault.Transient(fault.InvalidAnswer, "nonsense"))
			}
			group.Go(func() error {
				_, err := w.engine.Apply(t.Context(), result)
				return err
			})
		}
		require.NoError(t, group.Wait())
	}
}

// TestTenantsBooksAreTheSumOfTheirResearches lets everything go wrong, and people
// interfere: after each step the books are right.
func TestTenantsBooksAreTheSumOfTheirResearches(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		n := &network{random: rand.New(rand.NewPCG(seed, 2))}
		n.world = newWorldOfTenants(t, n.hooks(), store.Budget{Tokens: 40000, Queries: 40, Pages: 60})
		ids := make(map[string]string)
		for i := range 6 {
			tenant := []string{"one", "two"}[i%2]
			key := &store.KeyClaim{Method: "create", Key: store.NewID(), Digest: []byte("body")}
			n.insist(t, func(ctx context.Context) error {
				id, err := n.createFor(ctx, tenant, key)
				if err == nil {
					ids[id] = tenant
				}
				return err
			})
		}
		for late := time.Now().Add(time.Minute); len(n.tasks)+len(n.results) > 0 || n.unfinished(t); {
			require.True(t, time.Now().Before(late), "the researches hang")
			n.turn(t)
			for id, tenant := range ids {
				n.meddle(t, tenant, id)
			}
			require.Zero(t, n.count(t, falseBooks), "seed %d", seed)
		}
		for _, tenant := range []string{"one", "two"} {
			before := n.usage(t, tenant)
			require.Zero(t, before.Reserved)
			require.NoError(t, n.store.CountTenants(t.Context()))
			require.Equal(t, before, n.usage(t, tenant), "counting anew finds the same")
		}
	}
}

// unfinished reports whether a research still has something to do by itself.
func (n *network) unfinished(t *testing.T) bool {
	t.Helper()
	return n.count(t, "SELECT count(*) FROM research WHERE finished_at IS NULL") > 0
}

// meddle starts what is ready, and sometimes cancels, pauses, resumes or deletes. What
// is refused or lost is tried again by chance.
func (n *network) meddle(t *testing.T, tenant, id string) {
	t.Helper()
	ctx := t.Context()
	research, err := n.store.Research(ctx, tenant, id)
	if err != nil {
		return
	}
	switch {
	case research.Status == "ready":
		err = n.engine.Start(ctx, tenant, id, startRequest(2, 3))
		var over *engine.BudgetError
		if errors.As(err, &over) {
			_, err = n.engine.Cancel(ctx, tenant, id)
		}
	case research.Status == "paused":
		_, err = n.engine.Resume(ctx, tenant, id)
	case n.random.IntN(1000) < 4:
		err = n.engine.Delete(ctx, tenant, id)
	case n.random.IntN(1000) < 4 && !research.Status.Ended():
		_, err = n.engine.Cancel(ctx, tenant, id)
	case n.hit(3) && !research.Status.Ended():
		_, err = n.engine.Pause(ctx, tenant, id)
	}
	require.True(t, err == nil || errors.Is(err, errInjected) || errors.Is(err, store.ErrNotFound), err)
}

func TestUsedUpTenant(t *testing.T) {
	t.Parallel()
	w := newWorldOfTenants(t, store.Hooks{}, store.Budget{Tokens: 12130})
	ids := w.ready(t, "poor", 4)
	require.NoError(t, w.engine.Start(t.Context(), "poor", ids[0], startRequest(1, 1)))
	require.NoError(t, w.engine.Start(t.Context(), "poor", ids[1], startRequest(1, 1)))
	var over *engine.BudgetError
	require.ErrorAs(t, w.engine.Start(t.Context(), "poor", ids[2], startRequest(1, 1)), &over)
	require.Contains(t, over.Message, "The tenant's budget of model tokens")
	require.Equal(t, 1, w.count(t, "SELECT count(*) FROM research WHERE id = $1 AND status = 'ready' AND start_digest IS NULL AND reserved_tokens = 0", ids[2]))

	// What was not spent comes back when a research is deleted, what was spent does not.
	before := w.usage(t, "poor")
	require.NoError(t, w.engine.Delete(t.Context(), "poor", ids[1]))
	after := w.usage(t, "poor")
	require.Equal(t, before.Reserved-6000, after.Reserved)
	require.Equal(t, before.InputTokens, after.InputTokens)
	require.NoError(t, w.engine.Start(t.Context(), "poor", ids[2], startRequest(1, 1)))

	w.workGreedily(t)
	require.Equal(t, 2, w.count(t, "SELECT count(*) FROM report"))
	_, err := w.createFor(t.Context(), "poor", nil)
	require.ErrorAs(t, err, &over, "not even the questions can be paid")
	require.Equal(t, 3, w.count(t, "SELECT count(*) FROM research"))
	_, err = w.createFor(t.Context(), "rich", nil)
	require.NoError(t, err)
}

func TestTenantsQueriesAndPages(t *testing.T) {
	t.Parallel()
	w := newWorldOfTenants(t, store.Hooks{}, store.Budget{Queries: 9, Pages: 12})
	ids := w.ready(t, "one", 3)
	for _, id := range ids[:2] {
		require.NoError(t, w.engine.Start(t.Context(), "one", id, startRequest(2, 4)))
	}
	notes := ""
	for w.count(t, "SELECT count(*) FROM task WHERE state IN ('due', 'published')") > 0 {
		for _, task := range w.publish(t) {
			if bus.KindOf(task) == bus.Report {
				notes = task.GetReport().GetNotes()[0]
			}
			require.Zero(t, task.GetTokenLimit(), "no budget of tokens")
			w.apply(t, answer(task))
		}
	}
	require.Equal(t, "The tenant's budget was used up before all queries were processed.", notes)
	require.Equal(t, 9, w.count(t, "SELECT count(*) FROM serp_query"))
	require.LessOrEqual(t, w.count(t, "SELECT count(*) FROM task WHERE kind = 'scrape'"), 12)
	var over *engine.BudgetError
	require.ErrorAs(t, w.engine.Start(t.Context(), "one", ids[2], startRequest(1, 1)), &over)
	require.Equal(t, "tenant_queries", over.Budget)
}

func TestReplayNeedsRoomToo(t *testing.T) {
	t.Parallel()
	w := newWorldOfTenants(t, store.Hooks{}, store.Budget{Tokens: 7000})
	id := w.ready(t, "one", 1)[0]
	require.NoError(t, w.engine.Start(t.Context(), "one", id, startRequest(1, 1)))
	for !w.ended(t, id) {
		for _, task := range w.publish(t) {
			result := greedy(task)
			if bus.KindOf(task) == bus.Report {
				result.Payload, result.Failure = nil, fault.ToProto(fault.Permanent(fault.Internal, "broken"))
			}
			w.apply(t, result)
		}
	}
	var dead string
	w.read(t, []any{&dead}, "SELECT id::text FROM task WHERE kind = 'report' AND state = 'failed'")
	_, err := w.engine.Replay(t.Context(), "one", id, dead)
	var over *engine.BudgetError
	require.ErrorAs(t, err, &over)
	require.Zero(t, w.usage(t, "one").Reserved)
	require.Equal(t, 1, w.count(t, "SELECT count(*) FROM research WHERE status = 'failed'"), "nothing is stored by a refused request")
}

func (w *world) ended(t testing.TB, id string) bool {
	t.Helper()
	return w.count(t, "SELECT count(*) FROM research WHERE id = $1 AND finished_at IS NOT NULL", id) == 1
}

// TestCountTenantsWhileOthersCharge counts while researches are at work: the books
// of a server that had no budget before are right afterwards.
func TestCountTenantsWhileOthersCharge(t *testing.T) {
	t.Parallel()
	w := newWorldOfTenants(t, store.Hooks{}, store.Budget{Tokens: 1e9})
	ids := w.ready(t, "one", 6)
	for _, id := range ids {
		require.NoError(t, w.engine.Start(t.Context(), "one", id, startRequest(2, 3)))
	}
	w.exec(t, "UPDATE tenant_usage SET input_tokens = 7, reserved_tokens = 0")
	done := make(chan error, 1)
	go func() {
		var err error
		for range 50 {
			err = w.store.CountTenants(context.WithoutCancel(t.Context()))
		}
		done <- err
	}()
	w.workGreedily(t)
	require.NoError(t, <-done)
	require.Zero(t, w.count(t, falseBooks))
	require.NoError(t, w.store.CountTenants(t.Context()))
	require.Zero(t, w.count(t, falseBooks))
}

func (w *world) exec(t testing.TB, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), w.url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	_, err = conn.Exec(t.Context(), sql)
	require.NoError(t, err)
}
