package engine

import (
	"context"
	"errors"
	"time"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/platform/fault"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// Published notes that the bus has the messages of a research's tasks. Websites
// whose scrape is among them are being scraped from now on.
func (e *Engine) Published(ctx context.Context, tenant, researchID string, tasks []store.Task) error {
	_, err := e.update(ctx, tenant, researchID, func(tx *store.Tx) error {
		documents, err := tx.MarkPublished(ctx, tasks)
		if err != nil || len(documents) == 0 {
			return err
		}
		sites, err := tx.MarkScraping(ctx, documents)
		if err != nil {
			return err
		}
		for _, site := range sites {
			tx.Tell(store.Event{Type: "website.scraping", QueryID: site.QueryID, URL: site.URL})
		}
		return nil
	})
	return gone(err)
}

// Lost publishes a task again whose message and result are both gone, unless it
// moved on meanwhile. It reports whether it did.
func (e *Engine) Lost(ctx context.Context, lost store.Task) (bool, error) {
	republished := false
	_, err := e.update(ctx, lost.Tenant, lost.ResearchID, func(tx *store.Tx) error {
		task, err := tx.Task(ctx, lost.ID)
		if err != nil {
			return err
		}
		republished = task.State == store.TaskPublished && task.Attempt == lost.Attempt && task.Delivery == lost.Delivery
		if !republished {
			return nil
		}
		task.Delivery++
		return tx.Reschedule(ctx, task, 0)
	})
	return republished && err == nil, gone(err)
}

// Expire ends the work of a research whose deadline has passed and has the report
// written from what there is. A report that is not there grace after the deadline
// has failed.
func (e *Engine) Expire(ctx context.Context, tenant, researchID string, grace time.Duration) error {
	_, err := e.update(ctx, tenant, researchID, func(tx *store.Tx) error {
		late := tx.R.Deadline != nil && tx.R.Deadline.Before(tx.Now)
		tooLate := late && tx.R.Deadline.Add(grace).Before(tx.Now)
		switch {
		case late && tx.R.Status == workflow.Asking:
			return e.expire(ctx, tx, workflow.QuestionsFailed)
		case late && tx.R.Status == workflow.Running:
			return e.expire(ctx, tx, workflow.TimeUp)
		case tooLate && tx.R.Status == workflow.Reporting:
			return e.expire(ctx, tx, workflow.ReportFailed)
		default:
			return nil
		}
	})
	return gone(err)
}

func (e *Engine) expire(ctx context.Context, tx *store.Tx, happening workflow.Happening) error {
	const message = "The research reached its deadline."
	err := tx.CloseWork(ctx, string(fault.Deadline), message)
	if err != nil {
		return err
	}
	progress, err := tx.Progress(ctx)
	if err != nil {
		return err
	}
	tx.R.Reason, tx.R.ErrorMessage = string(fault.Deadline), message
	next := workflow.Decide(workflow.Situation{Happening: happening, Queries: progress.Queries})
	return e.follow(ctx, tx, next, nil, string(fault.Deadline), message)
}

// Replay gives a task that failed for good another attempt, if its research still
// waits for it, or can be made to wait again.
func (e *Engine) Replay(ctx context.Context, tenant, researchID, taskID string) (workflow.Status, error) {
	if !store.ValidID(taskID) {
		return "", &ConflictError{"What could not be decoded can't be replayed"}
	}
	return e.control(ctx, tenant, researchID, func(tx *store.Tx) error {
		task, err := tx.Task(ctx, taskID)
		if err != nil {
			return err
		}
		if !task.Open() {
			err := e.reopen(ctx, tx, task)
			if err != nil {
				return err
			}
			task.Attempt++
			task.Delivery = 0
			err = e.repay(ctx, tx, task)
			if err != nil {
				return err
			}
		} else {
			task.Delivery++
		}
		return tx.Reschedule(ctx, task, 0)
	})
}

// repay sets aside again what a task may use whose try is over.
func (e *Engine) repay(ctx context.Context, tx *store.Tx, task store.Task) error {
	tx.R.Reserved += task.Reserved
	over, short, err := e.overspent(ctx, tx)
	if err != nil || !over {
		return err
	}
	return short.refusal(short.short(0), "another try")
}

// reopen takes a research back to where it waited for the task.
func (e *Engine) reopen(ctx context.Context, tx *store.Tx, task store.Task) error {
	waitsNoMore := &ConflictError{"The research no longer waits for this task"}
	if task.State != store.TaskFailed {
		return waitsNoMore
	}
	failed := tx.R.Status == workflow.Failed
	switch {
	case failed && task.Kind == bus.Questions:
		e.revive(tx, workflow.Asking)
	case failed && task.Kind == bus.Report:
		e.revive(tx, workflow.Reporting)
	case failed && task.Kind == bus.Queries && task.QueryID == "":
		e.revive(tx, workflow.Running)
		tx.R.Reserved = e.limit(tx.R, bus.Report)
		tx.R.OpenQueries = 1
	case tx.R.Status == workflow.Running && task.Kind == bus.Queries && task.QueryID != "":
		reopened, err := tx.ReopenExpansion(ctx, task.QueryID)
		if err != nil {
			return err
		}
		if !reopened {
			return waitsNoMore
		}
		tx.R.OpenQueries++
	default:
		return waitsNoMore
	}
	return nil
}

func (e *Engine) revive(tx *store.Tx, status workflow.Status) {
	deadline := tx.Now.Add(e.settings.Deadline)
	tx.R.FinishedAt, tx.R.Deadline = nil, &deadline
	tx.R.Reason, tx.R.ErrorMessage = "", ""
	setStatus(tx, status, "", "")
}

// gone makes a research or task that was deleted meanwhile no error.
func gone(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
