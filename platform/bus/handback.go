package bus

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// maxCrashes is how many deliveries of a task may end without a word of its worker
// before the task is taken for the cause.
const maxCrashes = 5

// isPoison reports whether the deliveries before this one ended in maxCrashes deaths.
// NATS counts a hand-back as a delivery too, so its own MaxDeliver would take a long
// task for poison after a few rolling restarts: hand-backs are counted apart, and
// looked at only when there is a reason to. A Bus that can't tell goes on.
func (d *delivery) isPoison(ctx context.Context, deliveries uint64) bool {
	if deliveries <= maxCrashes {
		return false
	}
	ctx, cancel := asking(ctx)
	defer cancel()
	handBacks, _, err := d.bus.handBacks(ctx, d.envelope)
	if err != nil {
		d.bus.log.WarnContext(ctx, "hand-backs not counted", append(d.attributes(), "error", err)...)
		return false
	}
	return deliveries-1 >= handBacks+maxCrashes
}

// handBack gives the task to another worker, after the pause, and notes that this
// was no crash.
func (d *delivery) handBack(ctx context.Context, pause time.Duration) {
	ctx, cancel := asking(context.WithoutCancel(ctx))
	defer cancel()
	err := d.bus.countHandBack(ctx, d.envelope)
	if err != nil {
		d.bus.log.WarnContext(ctx, "hand-back not counted", append(d.attributes(), "error", err)...)
	}
	if pause > 0 {
		err = d.msg.NakWithDelay(pause)
	} else {
		err = d.msg.Nak()
	}
	if err == nil {
		// The process may end before the client's own flush.
		err = d.bus.nc.FlushWithContext(ctx)
	}
	if err != nil {
		d.bus.log.WarnContext(ctx, "task not handed back", append(d.attributes(), "error", err)...)
	}
}

func handBackKey(e envelope) string {
	return fmt.Sprintf("handback.%s.%d.%d", e.taskID, e.attempt, e.delivery)
}

func (b *Bus) handBacks(ctx context.Context, e envelope) (uint64, uint64, error) {
	journal, err := b.bucket(ctx, bucketJournal)
	if err != nil {
		return 0, 0, err
	}
	entry, err := journal.Get(ctx, handBackKey(e))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("read the hand-backs of task %s: %w", e.taskID, err)
	}
	count, err := strconv.ParseUint(string(entry.Value()), 10, 32)
	if err != nil {
		return 0, 0, fmt.Errorf("read the hand-backs of task %s: %w", e.taskID, err)
	}
	return count, entry.Revision(), nil
}

// countHandBack needs no second try: a task has one worker at a time, but for one
// that was taken for dead and counts as such.
func (b *Bus) countHandBack(ctx context.Context, e envelope) error {
	count, revision, err := b.handBacks(ctx, e)
	if err != nil {
		return err
	}
	journal, err := b.bucket(ctx, bucketJournal)
	if err != nil {
		return err
	}
	_, err = journal.Update(ctx, handBackKey(e), []byte(strconv.FormatUint(count+1, 10)), revision)
	if err != nil {
		return fmt.Errorf("count the hand-back of task %s: %w", e.taskID, err)
	}
	return nil
}
