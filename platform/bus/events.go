package bus

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
)

// Announce wakes the watchers of a research: it has new events in Postgres. It does
// not wait for the server.
func (b *Bus) Announce(_ context.Context, researchID string) error {
	err := checkToken("research_id", researchID)
	if err == nil {
		err = b.nc.Publish("fathom.event."+researchID, nil)
	}
	if err != nil {
		return fmt.Errorf("announce events: %w", err)
	}
	return nil
}

// Listen returns a channel that receives after announcements of the research, at
// least once after the last one; several may become one. A reconnect is taken for an
// announcement, since one may have been missed. The channel is closed when ctx ends.
func (b *Bus) Listen(ctx context.Context, researchID string) (<-chan struct{}, error) {
	err := checkToken("research_id", researchID)
	if err != nil {
		return nil, fmt.Errorf("listen for events: %w", err)
	}
	heard := make(chan struct{}, 1)
	wake := func() {
		select {
		case heard <- struct{}{}:
		default:
		}
	}
	subscription, err := b.nc.Subscribe("fathom.event."+researchID, func(*nats.Msg) { wake() })
	if err != nil {
		return nil, fmt.Errorf("listen for events: %w", err)
	}
	forget := b.revived.add(wake)
	wakes := make(chan struct{})
	go func() {
		defer close(wakes)
		defer forget()
		defer func() { _ = subscription.Unsubscribe() }()
		for {
			select {
			case <-heard:
			case <-ctx.Done():
				return
			}
			select {
			case wakes <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}()
	// The server knows of the subscription when it answers a flush. While it is away
	// the reconnect will do.
	if b.nc.IsConnected() {
		err = b.nc.FlushWithContext(ctx)
	}
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("listen for events: %w", err)
	}
	return wakes, nil
}
