package service

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	"github.com/fathom-research/fathom/services/state/internal/store"
)

// eventsAtOnce bounds how many events a watcher holds in memory.
const eventsAtOnce = 500

// WatchResearch sends a research's events from the database; announcements only say
// when to look.
func (s *Service) WatchResearch(r *researchv1.WatchResearchRequest, stream grpc.ServerStreamingServer[researchv1.Event]) error {
	ctx, id := stream.Context(), r.GetResearchId()
	err := known(id)
	if err != nil {
		return err
	}
	if r.GetAfterSequence() < 0 {
		return invalid("After sequence must not be negative")
	}
	tick := time.NewTicker(reread)
	defer tick.Stop()
	news := s.listen(ctx, id)
	after := int(r.GetAfterSequence())
	for {
		ended, err := s.sendEvents(ctx, id, &after, stream)
		if errors.Is(err, store.ErrNotFound) {
			return unknown(id)
		}
		if err != nil || ended {
			return s.answer(ctx, err, id)
		}
		select {
		case <-ctx.Done():
			return s.answer(ctx, ctx.Err(), id)
		case <-s.draining:
			return stopping()
		case <-news:
		case <-tick.C:
		}
	}
}

// sendEvents sends what there is and reports whether that is all there will be. It
// looks at the status first: what a research's end told is stored with it.
func (s *Service) sendEvents(ctx context.Context, id string, after *int, stream grpc.ServerStreamingServer[researchv1.Event]) (bool, error) {
	research, err := s.store.Research(ctx, tenantOf(ctx), id)
	if err != nil {
		return false, err
	}
	for {
		events, err := s.store.Events(ctx, tenantOf(ctx), id, *after, eventsAtOnce)
		if err != nil {
			return false, err
		}
		for _, e := range events {
			err := stream.Send(eventProto(id, e))
			if err != nil {
				return false, err
			}
			*after = e.Sequence
		}
		if len(events) < eventsAtOnce {
			return research.Status.Ended(), nil
		}
	}
}
