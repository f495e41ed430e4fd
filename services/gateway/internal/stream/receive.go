package stream

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
)

const (
	// reopenings is how often in a row a stream that state lost is opened again
	// before the client is told: a restart of state is none of its business.
	reopenings  = 3
	reopenPause = 200 * time.Millisecond
)

// item is one event, or why there are no more.
type item struct {
	event *researchv1.Event
	err   error
}

// receive hands the events after the given one over until the research's last, or a
// failure, which is the last item, or the end of ctx.
func (h *Handler) receive(ctx context.Context, researchID string, after int32) <-chan item {
	events := make(chan item)
	go func() {
		for lost := 0; ; lost++ {
			last, err := h.watch(ctx, researchID, after, events)
			if last > after {
				after, lost = last, 0
			}
			if status.Code(err) != codes.Unavailable || lost == reopenings {
				hand(ctx, events, item{err: err})
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(reopenPause):
			}
		}
	}()
	return events
}

// watch reads one stream to its end. It returns the last event that it handed over,
// and why there are no more: io.EOF after the research's last one.
func (h *Handler) watch(ctx context.Context, researchID string, after int32, events chan<- item) (int32, error) {
	watched, err := h.Client.WatchResearch(ctx, &researchv1.WatchResearchRequest{ResearchId: researchID, AfterSequence: after})
	if err != nil {
		return after, err
	}
	for {
		event, err := watched.Recv()
		if err != nil {
			return after, err
		}
		if !hand(ctx, events, item{event: event}) {
			return after, ctx.Err()
		}
		after = event.GetSequence()
	}
}

func hand(ctx context.Context, events chan<- item, next item) bool {
	select {
	case events <- next:
		return true
	case <-ctx.Done():
		return false
	}
}
