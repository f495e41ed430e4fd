// Package backend is the gateway's way to state: it waits for a connection that is
// about to come back and repeats calls that may be repeated, so that a rolling
// restart of state is no failed request.
package backend

import (
	"context"
	"errors"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
)

const (
	// patience is how long a call waits for a connection before it is refused.
	patience = 5 * time.Second
	tries    = 3
	pause    = 200 * time.Millisecond
)

// repeatable are the calls that are the same when done twice. Both POSTs are among
// them: start answers the same request the same way, and the gateway gives every
// request for questions an idempotency key.
var repeatable = []string{
	researchv1.ResearchService_CreateQuestions_FullMethodName,
	researchv1.ResearchService_StartResearch_FullMethodName,
	researchv1.ResearchService_GetResearch_FullMethodName,
	researchv1.ResearchService_ListResearches_FullMethodName,
	researchv1.ResearchService_GetReport_FullMethodName,
	researchv1.ResearchService_GetErrorOutput_FullMethodName,
}

// Conn is a connection to state. It is safe for concurrent use.
type Conn struct {
	conn    *grpc.ClientConn
	timeout time.Duration
}

// New makes a Conn on a connection that the caller keeps and closes. timeout bounds
// each call that is no stream.
func New(conn *grpc.ClientConn, timeout time.Duration) *Conn {
	return &Conn{conn: conn, timeout: timeout}
}

var errAway = status.Error(codes.Unavailable, "the research service can't be reached now; try again")

// Ready waits until the connection is there, at most as long as patience and ctx allow.
func (c *Conn) Ready(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		state := c.conn.GetState()
		if state == connectivity.Ready {
			return nil
		}
		c.conn.Connect()
		if c.conn.WaitForStateChange(waiting, state) {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return errAway
	}
}

// Invoke makes a call.
func (c *Conn) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	for try := 1; ; try++ {
		err := c.Ready(ctx)
		if err == nil {
			err = lost(ctx, c.conn.Invoke(ctx, method, args, reply, opts...))
		}
		if status.Code(err) != codes.Unavailable || errors.Is(err, errAway) || try == tries || !slices.Contains(repeatable, method) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// lost is err, but a call that was cancelled by the other side, which stops, is
// unavailable: the caller did not cancel it.
func lost(ctx context.Context, err error) error {
	if status.Code(err) == codes.Canceled && ctx.Err() == nil {
		return status.Error(codes.Unavailable, "the research service stopped before it answered; try again")
	}
	return err
}

// NewStream opens a stream.
func (c *Conn) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	err := c.Ready(ctx)
	if err != nil {
		return nil, err
	}
	return c.conn.NewStream(ctx, desc, method, opts...)
}

var _ grpc.ClientConnInterface = (*Conn)(nil)
