package bus

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// CancelResearch removes the research's queued tasks and stops those that run. A
// research is cancelled in Postgres first: this only saves work. It does all that it
// can and returns what it could not do.
func (b *Bus) CancelResearch(ctx context.Context, researchID string) error {
	err := checkToken("research_id", researchID)
	if err != nil {
		return fmt.Errorf("cancel: %w", err)
	}
	// Marked first: a worker that starts after the purge finds the mark.
	err = errors.Join(
		b.markCancelled(ctx, researchID),
		b.purgeTasks(ctx, researchID),
		b.nc.Publish("fathom.cancel."+researchID, nil),
	)
	if err != nil {
		return fmt.Errorf("cancel research %s: %w", researchID, err)
	}
	return nil
}

func (b *Bus) markCancelled(ctx context.Context, researchID string) error {
	bucket, err := b.bucket(ctx, bucketCancelled)
	if err != nil {
		return err
	}
	ctx, cancel := asking(ctx)
	defer cancel()
	_, err = bucket.Put(ctx, researchID, nil)
	return err
}

func (b *Bus) purgeTasks(ctx context.Context, researchID string) error {
	stream, err := b.stream(ctx, streamTasks)
	if err != nil {
		return err
	}
	ctx, cancel := asking(ctx)
	defer cancel()
	return stream.Purge(ctx, jetstream.WithPurgeSubject("fathom.task.*."+researchID+".>"))
}

// isCancelled says no when it can't be known: then the work is done in vain.
func (b *Bus) isCancelled(ctx context.Context, researchID string) bool {
	ctx, cancel := context.WithTimeout(ctx, b.heartbeatEvery())
	defer cancel()
	bucket, err := b.bucket(ctx, bucketCancelled)
	if err != nil {
		return false
	}
	_, err = bucket.Get(ctx, researchID)
	return err == nil
}
