package engine

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// ErrKeyMismatch is returned for an idempotency key that came with another body.
var ErrKeyMismatch = errors.New("the idempotency key was used with another request")

// InvalidError is a request that no state of the research would allow. Its message
// is for the person.
type InvalidError struct{ Message string }

func (e *InvalidError) Error() string { return e.Message }

// ConflictError is a request that the research's present status forbids. Its
// message is for the person.
type ConflictError struct{ Message string }

func (e *ConflictError) Error() string { return e.Message }

// keyHeldError stops a transaction whose idempotency key belongs to another request.
type keyHeldError struct{ owner store.KeyOwner }

func (e *keyHeldError) Error() string {
	return "the idempotency key is held by research " + e.owner.ResearchID
}

// Create stores a research and has its questions made. With a key that a request
// with the same body holds, it returns the research of that one.
func (e *Engine) Create(ctx context.Context, r store.NewResearch, key *store.KeyClaim) (string, error) {
	r.Deadline = e.settings.Deadline
	changed, err := e.store.Create(ctx, r, e.charged(ctx, func(tx *store.Tx) error {
		if key != nil {
			owner, taken, err := tx.TakeKey(ctx, *key)
			if err != nil {
				return err
			}
			if !taken {
				return &keyHeldError{owner}
			}
		}
		room, short, err := e.room(ctx, tx, bus.Questions)
		if err != nil {
			return err
		}
		if room == 0 {
			return short.refusal(short.short(e.limit(tx.R, bus.Questions)), "another research")
		}
		tx.Tell(store.Event{Type: "research." + string(workflow.Asking)})
		return tx.AddTasks(ctx, e.reserve(tx, store.Task{Kind: bus.Questions}))
	}))
	var held *keyHeldError
	if errors.As(err, &held) {
		if !bytes.Equal(held.owner.Digest, key.Digest) {
			return "", ErrKeyMismatch
		}
		return held.owner.ResearchID, nil
	}
	if err != nil {
		return "", err
	}
	e.changed(r.ID, changed)
	return r.ID, nil
}

// StartRequest is a person's word to go on. An empty prompt and no questions stand
// for the stored ones.
type StartRequest struct {
	Prompt    string
	Questions []string
	Values    store.Start
	Key       *store.KeyClaim
	// ValidateOnly asks whether the research could be started so: it is not.
	ValidateOnly bool
}

// errOnlyValidated takes back a start that was not meant.
var errOnlyValidated = errors.New("only validated")

// Start stores the answers and has the root planned. The same request again changes
// nothing.
func (e *Engine) Start(ctx context.Context, tenant, researchID string, request StartRequest) error {
	_, err := e.update(ctx, tenant, researchID, func(tx *store.Tx) error {
		if request.Key != nil {
			owner, taken, err := tx.TakeKey(ctx, *request.Key)
			if err != nil {
				return err
			}
			if !taken && (owner.ResearchID != researchID || !bytes.Equal(owner.Digest, request.Key.Digest)) {
				return ErrKeyMismatch
			}
		}
		again, err := startable(ctx, tx, request)
		if again && request.ValidateOnly {
			return &ConflictError{"The research is " + string(tx.R.Status)}
		}
		if err != nil || again {
			return err
		}
		err = tx.SaveStart(ctx, request.Values)
		if err != nil {
			return err
		}
		// The report's own tokens are kept back from the start.
		if tx.R.Budget.CostUSD > 0 && e.settings.Prices == (Prices{}) {
			return &InvalidError{"Budget in USD can't be kept: the server knows no prices"}
		}
		tx.R.Reserved += e.limit(tx.R, bus.Report)
		err = e.affordable(ctx, tx)
		if err != nil {
			return err
		}
		now := tx.Now
		deadline := now.Add(e.timeFor(request.Values.Budget))
		tx.R.StartedAt, tx.R.Deadline = &now, &deadline
		if request.ValidateOnly {
			return errOnlyValidated
		}
		return e.follow(ctx, tx, workflow.Decide(situation(tx, workflow.Started, nil)), nil, "", "")
	})
	if errors.Is(err, errOnlyValidated) {
		return nil
	}
	return err
}

// affordable checks that the budgets have room for a plan, at least one query and page,
// and the report, which is set aside already.
func (e *Engine) affordable(ctx context.Context, tx *store.Tx) error {
	purses, err := e.purses(ctx, tx)
	if err != nil {
		return err
	}
	const need = "a plan and a report"
	plan := e.limit(tx.R, bus.Queries)
	for _, p := range purses {
		noTokens := p.overdrawn() == 0 || plan > 0 && p.tasks(plan) == 0
		switch {
		case noTokens && p.owner == "research":
			return &InvalidError{"Budget is too small for " + need}
		case noTokens:
			return p.refusal(p.short(plan), need)
		case p.queries() == 0:
			return p.refusal("queries", "another one")
		case p.pages() == 0:
			return p.refusal("pages", "another one")
		}
	}
	return nil
}

// startable reports whether the research was started with the same values already,
// or why it can't be started.
func startable(ctx context.Context, tx *store.Tx, request StartRequest) (bool, error) {
	if tx.R.Phase() == workflow.Asking {
		return false, &ConflictError{"The follow-up questions are not there yet"}
	}
	dialogue, err := tx.Dialogue(ctx)
	if err != nil {
		return false, err
	}
	switch {
	case request.Prompt != "" && request.Prompt != dialogue.Prompt:
		return false, &InvalidError{"Initial prompt must equal the one that the research was created with"}
	case len(request.Questions) > 0 && !slices.Equal(request.Questions, dialogue.Questions):
		return false, &InvalidError{"Follow-up questions must equal the ones that were asked"}
	case len(request.Values.Answers) != len(dialogue.Questions):
		return false, &InvalidError{"Number of answers must match number of questions"}
	case tx.R.StartDigest != nil && bytes.Equal(tx.R.StartDigest, request.Values.Digest):
		return true, nil
	case tx.R.StartDigest != nil:
		return false, &ConflictError{"The research was started with other values"}
	case tx.R.Status != workflow.Ready:
		return false, &ConflictError{"The research is " + string(tx.R.Status)}
	default:
		return false, nil
	}
}

func (e *Engine) timeFor(budget store.Budget) time.Duration {
	if budget.Seconds > 0 {
		return min(e.settings.Deadline, time.Duration(budget.Seconds)*time.Second)
	}
	return e.settings.Deadline
}

// Cancel ends a research and all its work. Cancelling again changes nothing.
func (e *Engine) Cancel(ctx context.Context, tenant, researchID string) (workflow.Status, error) {
	return e.control(ctx, tenant, researchID, func(tx *store.Tx) error {
		switch {
		case tx.R.Status == workflow.Cancelled:
			return nil
		case tx.R.Status.Ended():
			return &ConflictError{"The research is " + string(tx.R.Status)}
		}
		return cancel(ctx, tx)
	})
}

func cancel(ctx context.Context, tx *store.Tx) error {
	const message = "The research was cancelled."
	err := tx.CloseWork(ctx, string(fault.Cancelled), message)
	if err != nil {
		return err
	}
	setStatus(tx, workflow.Cancelled, string(fault.Cancelled), message)
	return nil
}

// Pause keeps new work from being published. Results of work that has begun are
// still applied, and the deadline's clock stops.
func (e *Engine) Pause(ctx context.Context, tenant, researchID string) (workflow.Status, error) {
	return e.control(ctx, tenant, researchID, func(tx *store.Tx) error {
		switch {
		case tx.R.Status == workflow.Paused:
			return nil
		case tx.R.Status.Ended():
			return &ConflictError{"The research is " + string(tx.R.Status)}
		}
		now := tx.Now
		tx.R.PausedFrom, tx.R.PausedAt, tx.R.Status = tx.R.Status, &now, workflow.Paused
		tx.Tell(store.Event{Type: "research." + string(workflow.Paused)})
		return nil
	})
}

// Resume lets a paused research go on where it stands.
func (e *Engine) Resume(ctx context.Context, tenant, researchID string) (workflow.Status, error) {
	return e.control(ctx, tenant, researchID, func(tx *store.Tx) error {
		if tx.R.Status.Ended() {
			return &ConflictError{"The research is " + string(tx.R.Status)}
		}
		if tx.R.Status != workflow.Paused {
			return nil
		}
		if tx.R.Deadline != nil {
			later := tx.R.Deadline.Add(tx.Now.Sub(*tx.R.PausedAt))
			tx.R.Deadline = &later
		}
		tx.R.Status, tx.R.PausedFrom, tx.R.PausedAt = tx.R.PausedFrom, "", nil
		tx.Tell(store.Event{Type: "research." + string(tx.R.Status)})
		return nil
	})
}

// Delete removes a research with all that is stored of it.
func (e *Engine) Delete(ctx context.Context, tenant, researchID string) error {
	_, err := e.control(ctx, tenant, researchID, func(tx *store.Tx) error { return tx.Delete(ctx) })
	return err
}

func (e *Engine) control(ctx context.Context, tenant, researchID string, fn func(tx *store.Tx) error) (workflow.Status, error) {
	changed, err := e.update(ctx, tenant, researchID, fn)
	return changed.Status, err
}
