package workflow

import "time"

// RetryPolicy says when a failed task is tried again.
type RetryPolicy struct {
	// Attempts is the most tries of a task.
	Attempts int
	// Base is the wait after the first failure; it doubles with each further one.
	Base time.Duration
	// Max bounds the wait, unless the other side asked for a longer one.
	Max time.Duration
}

// Failure is what the policy looks at.
type Failure struct {
	// Attempt is the number of the try that failed, from 0.
	Attempt   int
	Retryable bool
	// RetryAfter is the shortest wait that the other side asked for.
	RetryAfter time.Duration
}

// Again reports whether there is another try, and after which wait. jitter is a
// random number in [0, 1): it spreads tries that failed together over half of the
// wait again.
func (p RetryPolicy) Again(f Failure, jitter float64) (time.Duration, bool) {
	if !f.Retryable || f.Attempt+1 >= p.Attempts {
		return 0, false
	}
	wait := p.Base
	for range f.Attempt {
		wait *= 2
		if wait >= p.Max {
			break
		}
	}
	wait = min(wait, p.Max)
	wait += time.Duration(jitter * float64(wait) / 2)
	return max(wait, f.RetryAfter), true
}
