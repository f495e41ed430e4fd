package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fathom-research/fathom/platform/fault"
)

// maxBody bounds an answer: a page of results is some tens of kilobytes.
const maxBody = 8 << 20

// page asks for one page of results.
func (s *SearXNG) page(ctx context.Context, text string, query Query, number int) (*page, error) {
	values := url.Values{
		"q":          {text},
		"format":     {"json"},
		"pageno":     {strconv.Itoa(number)},
		"safesearch": {strconv.Itoa(int(query.SafeSearch))},
	}
	if len(query.Categories) > 0 {
		values.Set("categories", strings.Join(query.Categories, ","))
	}
	if query.Language != "" {
		values.Set("language", query.Language)
	}
	if query.TimeRange != "" {
		values.Set("time_range", query.TimeRange)
	}
	body, contentType, err := s.get(ctx, "search", values)
	if err != nil {
		return nil, err
	}
	return decodePage(body, contentType)
}

// get asks for a path below the base and reads the whole answer, under the gate and
// within the request's own timeout.
func (s *SearXNG) get(ctx context.Context, path string, values url.Values) ([]byte, string, error) {
	release, err := s.gate.Enter(ctx)
	if err != nil {
		return nil, "", err
	}
	defer release()

	timed, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	target := s.base.JoinPath(path)
	target.RawQuery = values.Encode()
	request, err := http.NewRequestWithContext(timed, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, "", fault.Permanent(fault.Misconfigured, "ask SearXNG: %w", err)
	}
	request.Header.Set("Accept", "application/json")
	response, err := s.client.Do(request)
	if err != nil {
		return nil, "", s.unreachable(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, "", s.refused(ctx, response)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if err != nil {
		return nil, "", s.unreachable(ctx, err)
	}
	if len(body) > maxBody {
		return nil, "", fault.Permanent(fault.TooLarge, "SearXNG at %s sent more than %d MiB", s.name(), maxBody>>20)
	}
	return body, response.Header.Get("Content-Type"), nil
}

// name is the base without a password, for people.
func (s *SearXNG) name() string { return s.base.Redacted() }

// unreachable says why there is no answer. The end of ctx, the task's own, is left
// for the bus to judge.
func (s *SearXNG) unreachable(ctx context.Context, err error) error {
	// The URL in a url.Error holds the query, which does not belong into logs.
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var timeout interface{ Timeout() bool }
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("ask SearXNG at %s: %w", s.name(), ctx.Err())
	case errors.Is(err, errRedirect):
		return fault.Permanent(fault.Misconfigured, "SearXNG at %s %w: set FATHOM_SEARXNG_URL to the address itself", s.name(), err)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fault.Transient(fault.TimedOut, "SearXNG at %s did not answer within %s", s.name(), s.timeout)
	default:
		return fault.Transient(fault.Unavailable, "ask SearXNG at %s: %w", s.name(), err)
	}
}

// refused says what a status other than 200 means for the task.
func (s *SearXNG) refused(ctx context.Context, response *http.Response) error {
	status := response.StatusCode
	wait := retryAfter(response.Header.Get("Retry-After"), time.Now())
	switch {
	case status == http.StatusTooManyRequests:
		return s.limited(ctx, wait)
	case status == http.StatusForbidden:
		return fault.Permanent(fault.Misconfigured,
			"SearXNG at %s refuses JSON (403): add json to search.formats in its settings.yml and restart it", s.name())
	case status == http.StatusUnauthorized:
		return fault.Permanent(fault.Misconfigured, "SearXNG at %s wants a login (401): put it into FATHOM_SEARXNG_URL", s.name())
	case status == http.StatusNotFound:
		return fault.Permanent(fault.Misconfigured, "there is no SearXNG at %s (404): check FATHOM_SEARXNG_URL", s.name())
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return fault.Transient(fault.TimedOut, "SearXNG at %s timed out (%d)", s.name(), status).After(wait)
	case status >= http.StatusInternalServerError:
		return fault.Transient(fault.Unavailable, "SearXNG at %s is not available (%d)", s.name(), status).After(wait)
	default:
		return fault.Permanent(fault.Malformed, "SearXNG at %s refused the search (%d)", s.name(), status)
	}
}

// limited closes the gate for all pods when SearXNG said for how long.
func (s *SearXNG) limited(ctx context.Context, wait time.Duration) error {
	limited := fault.Transient(fault.RateLimited, "SearXNG at %s limits our rate (429)", s.name()).After(wait)
	if wait == 0 {
		return limited
	}
	err := s.gate.Penalize(ctx, time.Now().Add(wait))
	if err != nil {
		return fmt.Errorf("%w; tell the other workers: %w", limited, err)
	}
	return limited
}

// maxRetryAfter keeps a mistaken header from closing search for days.
const maxRetryAfter = time.Hour

// retryAfter reads a Retry-After header in either of its forms; 0 is none.
func retryAfter(header string, now time.Time) time.Duration {
	seconds, err := strconv.Atoi(strings.TrimSpace(header))
	if err == nil {
		return min(max(time.Duration(min(seconds, int(maxRetryAfter/time.Second)))*time.Second, 0), maxRetryAfter)
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}

func errNoQuery() error { return fault.Permanent(fault.Malformed, "the query has no words") }
