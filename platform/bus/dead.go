package bus

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/proto"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// DeadTask is a task in DEAD. Task is nil when Body could not be decoded.
type DeadTask struct {
	Sequence   uint64
	ResearchID string
	TaskID     string
	Kind       Kind
	Failure    *workv1.Failure
	At         time.Time
	Task       *workv1.Task
	Body       []byte
}

// ErrNoDeadTask is returned for a sequence number that DEAD does not hold.
var ErrNoDeadTask = errors.New("no such dead task")

// Bury keeps a task that failed for good in DEAD, with its failure.
func (b *Bus) Bury(ctx context.Context, task *workv1.Task, failure *workv1.Failure) error {
	e, err := envelopeOf(task)
	if err != nil {
		return fmt.Errorf("bury: %w", err)
	}
	body, err := proto.Marshal(task)
	if err != nil {
		return fmt.Errorf("bury task %s: %w", e.taskID, err)
	}
	return b.bury(ctx, e, body, failure)
}

func (b *Bus) bury(ctx context.Context, e envelope, body []byte, failure *workv1.Failure) error {
	reason, err := proto.Marshal(failure)
	if err != nil {
		return fmt.Errorf("bury task %s: %w", e.taskID, err)
	}
	header := nats.Header{headerFailure: []string{base64.StdEncoding.EncodeToString(reason)}}
	err = b.publish(ctx, streamDead, e.subject("dead"), e.messageID()+"/dead", header, body)
	if err != nil {
		return fmt.Errorf("bury task %s: %w", e.taskID, err)
	}
	return nil
}

// DeadTasks lists DEAD, the oldest first, of one research when researchID is set.
func (b *Bus) DeadTasks(ctx context.Context, researchID string) ([]DeadTask, error) {
	filter := "fathom.dead.>"
	if researchID != "" {
		err := checkToken("research_id", researchID)
		if err != nil {
			return nil, fmt.Errorf("list dead tasks: %w", err)
		}
		filter = "fathom.dead.*." + researchID + ".>"
	}
	var tasks []DeadTask
	for next := uint64(1); ; {
		raw, err := b.deadMessage(ctx, next, jetstream.WithGetMsgSubject(filter))
		if errors.Is(err, ErrNoDeadTask) {
			return tasks, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list dead tasks: %w", err)
		}
		task, err := b.readDead(ctx, raw)
		if err != nil {
			return nil, fmt.Errorf("list dead tasks: %w", err)
		}
		tasks = append(tasks, *task)
		next = raw.Sequence + 1
	}
}

// DeadTask reads one dead task.
func (b *Bus) DeadTask(ctx context.Context, sequence uint64) (*DeadTask, error) {
	raw, err := b.deadMessage(ctx, sequence)
	if err != nil {
		return nil, err
	}
	return b.readDead(ctx, raw)
}

// RemoveDeadTask takes a dead task out of DEAD, after it was replayed.
func (b *Bus) RemoveDeadTask(ctx context.Context, sequence uint64) error {
	raw, err := b.deadMessage(ctx, sequence)
	if err != nil {
		return err
	}
	stream, err := b.stream(ctx, streamDead)
	if err != nil {
		return err
	}
	asked, cancel := asking(ctx)
	defer cancel()
	err = stream.DeleteMsg(asked, sequence)
	if err != nil {
		return fmt.Errorf("remove dead task %d: %w", sequence, err)
	}
	b.dropBlob(ctx, raw.Header)
	return nil
}

// deadMessage reads one message of DEAD; the options may make it a later one.
func (b *Bus) deadMessage(ctx context.Context, sequence uint64, opts ...jetstream.GetMsgOpt) (*jetstream.RawStreamMsg, error) {
	stream, err := b.stream(ctx, streamDead)
	if err != nil {
		return nil, err
	}
	ctx, cancel := asking(ctx)
	defer cancel()
	raw, err := stream.GetMsg(ctx, sequence, opts...)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		err = ErrNoDeadTask
	}
	if err != nil {
		return nil, fmt.Errorf("dead task %d: %w", sequence, err)
	}
	return raw, nil
}

// readDead shows what there is: a body that can't be had or decoded is no error.
func (b *Bus) readDead(ctx context.Context, raw *jetstream.RawStreamMsg) (*DeadTask, error) {
	e, err := readEnvelope(raw.Subject, raw.Header)
	if err != nil {
		return nil, err
	}
	dead := &DeadTask{
		Sequence: raw.Sequence, ResearchID: e.researchID, TaskID: e.taskID, Kind: e.kind,
		Failure: &workv1.Failure{}, At: raw.Time,
	}
	reason, err := base64.StdEncoding.DecodeString(raw.Header.Get(headerFailure))
	if err == nil {
		err = proto.Unmarshal(reason, dead.Failure)
	}
	if err != nil {
		return nil, fmt.Errorf("read the failure of dead task %d: %w", raw.Sequence, err)
	}
	dead.Body, err = b.body(ctx, raw.Header, raw.Data)
	if errors.Is(err, errBlobMissing) {
		return dead, nil
	}
	if err != nil {
		return nil, err
	}
	task := &workv1.Task{}
	if proto.Unmarshal(dead.Body, task) == nil {
		dead.Task = task
	}
	return dead, nil
}
