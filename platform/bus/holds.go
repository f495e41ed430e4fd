package bus

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Holds reports whether the task's message is in TASKS or a result of it in
// RESULTS, looked up in that order: a worker publishes the result before it acks the
// task, so a task on its way is seen in one of them. A published task of which it
// reports false is lost.
func (b *Bus) Holds(ctx context.Context, kind Kind, researchID, taskID string) (bool, error) {
	e := envelope{kind: kind, researchID: researchID, taskID: taskID}
	err := e.check()
	if err != nil {
		return false, fmt.Errorf("look for a task: %w", err)
	}
	held, err := b.holds(ctx, streamTasks, e.subject("task"))
	if err != nil || held {
		return held, err
	}
	return b.holds(ctx, streamResults, e.subject("result"))
}

func (b *Bus) holds(ctx context.Context, name, subject string) (bool, error) {
	stream, err := b.stream(ctx, name)
	if err != nil {
		return false, err
	}
	ctx, cancel := asking(ctx)
	defer cancel()
	_, err = stream.GetLastMsgForSubject(ctx, subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for %s in %s: %w", subject, name, err)
	}
	return true, nil
}
