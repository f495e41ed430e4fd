package llm_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/llm"
	"github.com/fathom-research/fathom/platform/fault"
)

type gate struct {
	full     bool
	inside   int
	shutTill time.Time
}

func (g *gate) Take(context.Context) (func(), error) {
	if g.full {
		return nil, &fault.Deferral{Until: time.Now().Add(time.Second), Limit: "model"}
	}
	g.inside++
	return func() { g.inside-- }, nil
}

func (g *gate) Close(_ context.Context, until time.Time) error {
	g.shutTill = until
	return nil
}

type failing struct{ err error }

func (f failing) Chat(context.Context, llm.Request) (*llm.Answer, error) { return nil, f.err }

func TestLimitedDefersWhenThereIsNoPlace(t *testing.T) {
	t.Parallel()
	_, err := llm.Limited(&model{}, &gate{full: true}).Chat(t.Context(), llm.Request{})
	var deferral *fault.Deferral
	require.ErrorAs(t, err, &deferral)
}

func TestLimitedClosesTheGateForARetryAfter(t *testing.T) {
	t.Parallel()
	shared := &gate{}
	busy := fault.Transient(fault.RateLimited, "slow down").After(time.Minute)
	_, err := llm.Limited(failing{busy}, shared).Chat(t.Context(), llm.Request{})
	require.ErrorIs(t, err, busy)
	require.Zero(t, shared.inside)
	require.WithinDuration(t, time.Now().Add(time.Minute), shared.shutTill, 10*time.Second)
}
