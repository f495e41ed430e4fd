package llm

import (
	"context"
	"errors"
	"time"

	"github.com/fathom-research/fathom/platform/fault"
)

// Gate is the limit that all pods which ask one provider share.
type Gate interface {
	// Take waits for a place and returns the function that gives it back; a
	// *fault.Deferral when there is none.
	Take(ctx context.Context) (release func(), err error)
	// Close lets nobody in before until.
	Close(ctx context.Context, until time.Time) error
}

type limited struct {
	client Client
	gate   Gate
}

// Limited asks client only with a place of gate. When the provider says to wait,
// the gate is closed for that long, so that every pod obeys.
func Limited(client Client, gate Gate) Client {
	return &limited{client: client, gate: gate}
}

func (l *limited) Chat(ctx context.Context, request Request) (*Answer, error) {
	release, err := l.gate.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	answer, err := l.client.Chat(ctx, request)
	if err == nil {
		return answer, nil
	}
	var failure *fault.Error
	if errors.As(err, &failure) && failure.Code == fault.RateLimited && failure.RetryAfter > 0 {
		closing := l.gate.Close(context.WithoutCancel(ctx), time.Now().Add(failure.RetryAfter))
		if closing != nil {
			return nil, errors.Join(err, closing)
		}
	}
	return nil, err
}
