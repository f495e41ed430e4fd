package openai

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	sdk "github.com/openai/openai-go/v3"

	"github.com/fathom-research/fathom/platform/fault"
)

// failure is err as the rest of Fathom knows it.
func (c *Client) failure(ctx context.Context, err error) error {
	status, refusal := statusOf(err)
	if refusal == nil {
		return c.unanswered(ctx, err)
	}
	complaint := brief(complaintOf(refusal))
	wait := retryAfter(refusal.Response, time.Now())
	switch {
	case status == http.StatusTooManyRequests && refusal.Code == "insufficient_quota":
		return fault.Permanent(fault.RateLimited, "the model provider's quota is used up: %s", complaint)
	case status == http.StatusTooManyRequests:
		return fault.Transient(fault.RateLimited, "the model server limits its rate: %s", complaint).After(wait)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fault.Permanent(fault.Misconfigured, "the model server refuses the key (HTTP %d; FATHOM_LLM_API_KEY): %s", status, complaint)
	case status == http.StatusNotFound:
		return fault.Permanent(fault.Misconfigured, "the model server knows no such model or path (FATHOM_LLM_MODEL, FATHOM_LLM_BASE_URL): %s", complaint)
	case status == http.StatusRequestTimeout || status == http.StatusGatewayTimeout:
		return fault.Transient(fault.TimedOut, "the model server timed out (HTTP %d): %s", status, complaint).After(wait)
	case status == http.StatusRequestEntityTooLarge || tooLong(strings.ToLower(complaintOf(refusal))):
		return fault.Permanent(fault.TooLarge, "the prompt is longer than the model reads: lower FATHOM_LLM_CONTEXT_TOKENS (%s)", complaint)
	case status >= 500 || status == http.StatusConflict:
		return fault.Transient(fault.Unavailable, "the model server failed (HTTP %d): %s", status, complaint).After(wait)
	default:
		return fault.Permanent(fault.Misconfigured, "the model server refuses the request (HTTP %d): %s", status, complaint)
	}
}

// unanswered is the failure of a request that got no answer which could be read.
func (c *Client) unanswered(ctx context.Context, err error) error {
	var network net.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded) || (errors.As(err, &network) && network.Timeout()):
		return fault.Transient(fault.TimedOut, "the model server did not answer in %s (FATHOM_LLM_TIMEOUT)", c.config.Timeout)
	default:
		return fault.Transient(fault.Unavailable, "ask the model server at %s: %w", c.config.URL(), err)
	}
}

// complaintOf is what the server said, in its own words where it has any.
func complaintOf(refusal *sdk.Error) string {
	said := refusal.Message
	if said == "" {
		said = refusal.RawJSON()
	}
	if refusal.Param != "" {
		said += " (" + refusal.Param + ")"
	}
	if refusal.Code != "" && !strings.Contains(said, refusal.Code) {
		said += " [" + refusal.Code + "]"
	}
	return said
}

func tooLong(complaint string) bool {
	for _, phrase := range []string{
		"context_length", "context length", "maximum context", "context window", "context size",
		"too many tokens", "prompt is too long", "input is too long", "string_above_max_length",
	} {
		if strings.Contains(complaint, phrase) {
			return true
		}
	}
	return false
}

// longestAnnounced bounds how long a server can make us stay away.
const longestAnnounced = time.Hour

func retryAfter(response *http.Response, now time.Time) time.Duration {
	if response == nil {
		return 0
	}
	wait := time.Duration(0)
	value := response.Header.Get("Retry-After")
	seconds, err := strconv.ParseFloat(value, 64)
	if err == nil && seconds > 0 && seconds < longestAnnounced.Seconds() {
		wait = time.Duration(seconds * float64(time.Second))
	} else if err == nil && seconds > 0 {
		wait = longestAnnounced
	}
	at, err := http.ParseTime(value)
	if err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), longestAnnounced)
}

// brief cuts what a server said to what fits a message for people.
func brief(said string) string {
	const most = 300
	said = strings.Join(strings.Fields(strings.ToValidUTF8(said, "")), " ")
	if len(said) <= most {
		return said
	}
	return strings.ToValidUTF8(said[:most], "") + "…"
}
