package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/fathom-research/fathom/platform/fault"
)

// entry is what the journal keeps of one call.
type entry struct {
	Text      string `json:"text"`
	Truncated bool   `json:"truncated,omitempty"`
	Model     string `json:"model"`
	Input     int64  `json:"input"`
	Output    int64  `json:"output"`
	// Spent marks an answer that validation refused, after the last ask of its
	// series: another try of the task asks anew instead of reading it again.
	Spent bool `json:"spent,omitempty"`
}

// journalled remembers the answers of one task.
type journalled struct {
	client  Client
	journal Journal
	budget  *Budget

	mu      sync.Mutex
	ordinal int
}

// Journalled makes the client of one task. An answer is in the journal before it is
// returned; the same calls in the same order read it from there and pay nothing.
// Calls of one Journalled must come one after another, since their order is their
// key: work that runs side by side takes one each (see Fork).
func Journalled(client Client, journal Journal) Client {
	return &journalled{client: client, journal: journal}
}

// ForTask is Journalled with a bound on the tokens of the task, 0 for none. What
// was paid before a crash counts towards the bound too.
func ForTask(client Client, journal Journal, tokenLimit int64) Client {
	return &journalled{client: client, journal: journal, budget: NewBudget(tokenLimit)}
}

// Fork gives a part of a task, that runs beside others, its own order of calls in
// the same journal and under the same bound. A client that is not journalled is
// returned as it is.
func Fork(client Client, part string) Client {
	j, ok := client.(*journalled)
	if !ok {
		return client
	}
	return &journalled{client: j.client, journal: prefixed{journal: j.journal, prefix: part + "."}, budget: j.budget}
}

// Chat answers from the journal, or asks and writes the answer down.
func (j *journalled) Chat(ctx context.Context, request Request) (*Answer, error) {
	j.mu.Lock()
	defer j.mu.Unlock()

	hash, err := request.hash()
	if err != nil {
		return nil, err
	}
	for {
		key := strconv.Itoa(j.ordinal) + "." + hash
		remembered, found, err := j.read(ctx, key)
		if err != nil {
			return nil, err
		}
		if !found {
			return j.ask(ctx, key, request)
		}
		j.ordinal++
		j.budget.add(remembered.Input + remembered.Output)
		if !remembered.Spent {
			return remembered.answer(key), nil
		}
	}
}

func (j *journalled) ask(ctx context.Context, key string, request Request) (*Answer, error) {
	request, err := j.budget.fit(request)
	if err != nil {
		return nil, err
	}
	answer, err := j.client.Chat(ctx, request)
	if err != nil {
		return nil, err
	}
	err = j.write(ctx, key, entry{
		Text: answer.Text, Truncated: answer.Truncated, Model: answer.Usage.Model,
		Input: answer.Usage.InputTokens, Output: answer.Usage.OutputTokens,
	})
	if err != nil {
		return nil, err
	}
	j.ordinal++
	j.budget.add(answer.Usage.InputTokens + answer.Usage.OutputTokens)
	answer.entry = key
	return answer, nil
}

// spend marks the answers as refused for good.
func (j *journalled) spend(ctx context.Context, answers []*Answer) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, answer := range answers {
		kept, found, err := j.read(ctx, answer.entry)
		if err != nil {
			return err
		}
		if !found || kept.Spent {
			continue
		}
		kept.Spent = true
		err = j.write(ctx, answer.entry, kept)
		if err != nil {
			return err
		}
	}
	return nil
}

func (j *journalled) read(ctx context.Context, key string) (entry, bool, error) {
	var kept entry
	value, found, err := j.journal.Get(ctx, key)
	if err != nil {
		return kept, false, fault.Transient(fault.Unavailable, "read the journal: %w", err)
	}
	if !found {
		return kept, false, nil
	}
	err = json.Unmarshal(value, &kept)
	if err != nil {
		return kept, false, fault.Transient(fault.Internal, "decode journal entry %s: %w", key, err)
	}
	return kept, true, nil
}

func (j *journalled) write(ctx context.Context, key string, kept entry) error {
	value, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("encode journal entry %s: %w", key, err)
	}
	// The call is paid: a stop that arrives now must not lose its answer.
	err = j.journal.Put(context.WithoutCancel(ctx), key, value)
	if err != nil {
		return fault.Transient(fault.Unavailable, "write the journal: %w", err)
	}
	return nil
}

func (e entry) answer(key string) *Answer {
	return &Answer{
		Text: e.Text, Truncated: e.Truncated, entry: key,
		Usage: Usage{Model: e.Model, JournalledCalls: 1},
	}
}

// hash identifies what is asked: every field counts.
func (r Request) hash() (string, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("encode the request for its journal key: %w", err)
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:16]), nil
}

type prefixed struct {
	journal Journal
	prefix  string
}

func (p prefixed) Get(ctx context.Context, key string) ([]byte, bool, error) {
	return p.journal.Get(ctx, p.prefix+key)
}

func (p prefixed) Put(ctx context.Context, key string, value []byte) error {
	return p.journal.Put(ctx, p.prefix+key, value)
}
