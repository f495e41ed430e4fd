package llm

import (
	"sync"

	"github.com/fathom-research/fathom/platform/fault"
)

// leastAnswer is the shortest bound on an answer that is worth paying a prompt for.
const leastAnswer = 256

// Budget bounds the tokens of one task. It is safe for concurrent use; a nil Budget
// has no bound.
type Budget struct {
	mu    sync.Mutex
	limit int64
	spent int64
}

// NewBudget makes a budget of limit tokens; nil when limit is 0.
func NewBudget(limit int64) *Budget {
	if limit <= 0 {
		return nil
	}
	return &Budget{limit: limit}
}

// fit bounds the request's answer by what is left, or refuses the request.
func (b *Budget) fit(request Request) (Request, error) {
	if b == nil {
		return request, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	left := b.limit - b.spent - int64(request.EstimateTokens())
	if left < leastAnswer {
		return request, fault.Permanent(fault.OverBudget,
			"the task may use %d model tokens: %d are used, and the next call needs more than what is left", b.limit, b.spent)
	}
	if request.MaxTokens == 0 || int64(request.MaxTokens) > left {
		request.MaxTokens = int(min(left, 1<<20))
	}
	return request, nil
}

func (b *Budget) add(tokens int64) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent += tokens
}

// EstimateTokens guesses the length of text in tokens: four bytes each for Latin
// script, and a bit over one per character elsewhere, where models split finer.
func EstimateTokens(text string) int {
	var ascii, other int
	for _, r := range text {
		if r < 0x250 {
			ascii++
		} else {
			other++
		}
	}
	return (ascii+3)/4 + other + other/8
}

// EstimateTokens guesses how many tokens the request's prompt has.
func (r Request) EstimateTokens() int {
	total := EstimateTokens(r.System) + EstimateTokens(r.User) + 16
	if r.Schema != nil {
		total += EstimateTokens(string(r.Schema.Schema))
	}
	return total
}
