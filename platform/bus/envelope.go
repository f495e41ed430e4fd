package bus

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// Headers of messages.
const (
	headerBlob    = "Fathom-Blob"    // the SHA-256 of a body that is in BLOBS
	headerFailure = "Fathom-Failure" // why a dead task is dead: a Failure in base64
)

// envelope is what can be known of a message without its body: subject and message id.
type envelope struct {
	kind       Kind
	researchID string
	taskID     string
	attempt    int32
	delivery   int32
}

func envelopeOf(task *workv1.Task) (envelope, error) {
	e := envelope{
		kind: KindOf(task), researchID: task.GetResearchId(), taskID: task.GetTaskId(),
		attempt: task.GetAttempt(), delivery: task.GetDelivery(),
	}
	return e, e.check()
}

// readEnvelope reads the envelope of a task or a dead task. A message id of another
// form leaves attempt and delivery 0.
func readEnvelope(subject string, header nats.Header) (envelope, error) {
	tokens := strings.Split(subject, ".")
	if len(tokens) != 5 {
		return envelope{}, fmt.Errorf("subject %q is not fathom.<what>.<kind>.<research>.<task>", subject)
	}
	e := envelope{kind: Kind(tokens[2]), researchID: tokens[3], taskID: tokens[4]}
	parts := strings.Split(header.Get(jetstream.MsgIDHeader), "/")
	if len(parts) >= 3 && parts[0] == e.taskID {
		e.attempt = number(parts[1])
		e.delivery = number(parts[2])
	}
	return e, nil
}

func number(s string) int32 {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0
	}
	return int32(n)
}

func (e envelope) check() error {
	if e.kind == "" {
		return errors.New("the task has no payload")
	}
	return errors.Join(checkToken("research_id", e.researchID), checkToken("task_id", e.taskID))
}

// checkToken refuses what can't be one token of a subject: it would change who
// receives the message.
func checkToken(name, value string) error {
	if value == "" || strings.ContainsAny(value, ".*> \t\r\n") {
		return fmt.Errorf("%s %q can't be part of a subject", name, value)
	}
	return nil
}

func (e envelope) subject(what string) string {
	return "fathom." + what + "." + string(e.kind) + "." + e.researchID + "." + e.taskID
}

// messageID lets the stream drop the same publish made twice within its window.
func (e envelope) messageID() string {
	return fmt.Sprintf("%s/%d/%d", e.taskID, e.attempt, e.delivery)
}

func (e envelope) attributes() []any {
	return []any{
		"kind", string(e.kind), "research_id", e.researchID, "task_id", e.taskID,
		"attempt", int(e.attempt), "delivery", int(e.delivery),
	}
}

// stamp writes the task's ids into a result.
func (e envelope) stamp(result *workv1.Result) {
	result.ResearchId, result.TaskId, result.Kind = e.researchID, e.taskID, string(e.kind)
	result.Attempt, result.Delivery = e.attempt, e.delivery
}
