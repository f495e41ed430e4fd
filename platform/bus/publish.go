package bus

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/proto"

	"github.com/fathom-research/fathom/platform/fault"
	"github.com/fathom-research/fathom/platform/faultpoint"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

const (
	// maxInline keeps a message well under the server's payload limit of 1 MiB.
	maxInline = 512 << 10
	// maxBody is what a task or a result may have at most: a page's bytes, which are
	// bounded below it, and its text.
	maxBody = 32 << 20
)

// PublishTask publishes a task and returns when the stream has stored it. The same
// task, attempt and delivery published again within the dedupe window is dropped.
// The span of ctx becomes the parent of the worker's span.
func (b *Bus) PublishTask(ctx context.Context, task *workv1.Task) error {
	e, err := envelopeOf(task)
	if err != nil {
		return fmt.Errorf("publish task: %w", err)
	}
	body, err := proto.Marshal(task)
	if err != nil {
		return fmt.Errorf("publish task %s: %w", e.taskID, err)
	}
	err = b.publish(ctx, streamTasks, e.subject("task"), e.messageID(), nil, body)
	if err != nil {
		return fmt.Errorf("publish task %s: %w", e.taskID, err)
	}
	return nil
}

// publishResult is dropped by the stream when the same delivery's result is there
// already: the first one stands.
func (b *Bus) publishResult(ctx context.Context, e envelope, body []byte) error {
	return b.publish(ctx, streamResults, e.subject("result"), e.messageID()+"/result", nil, body)
}

func (b *Bus) publish(ctx context.Context, stream, subject, id string, header nats.Header, body []byte) error {
	if len(body) > maxBody {
		return tooLarge(len(body))
	}
	msg := &nats.Msg{Subject: subject, Header: header, Data: body}
	if msg.Header == nil {
		msg.Header = nats.Header{}
	}
	inject(ctx, msg.Header)
	if len(body) > maxInline {
		hash, err := b.putBlob(ctx, body)
		if err != nil {
			return err
		}
		msg.Header.Set(headerBlob, hash)
		msg.Data = nil
	}
	ctx, cancel := asking(ctx)
	defer cancel()
	faultpoint.Pass("publish.before")
	_, err := b.js.PublishMsg(ctx, msg, jetstream.WithMsgID(id), jetstream.WithExpectStream(stream))
	faultpoint.Pass("publish.after")
	return err
}

func tooLarge(size int) *fault.Error {
	return fault.Permanent(fault.TooLarge, "a body of %d bytes is over the limit of %d", size, maxBody)
}
