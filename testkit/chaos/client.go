package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// client uses the REST API as a patient program would: what fails is tried again
// with the same idempotency key.
type client struct {
	base string
	http *http.Client
}

func dial(ctx context.Context, addr string) (net.Conn, error) {
	return (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", addr)
}

// research runs one research and returns the status that it ended with.
func (c *client) research(ctx context.Context, number int, opts Options) (string, error) {
	prompt := fmt.Sprintf("How did the weather stations of region %d change between 1950 and 2020?", number)
	key := fmt.Sprintf("chaos-%d-%d", opts.Seed, number)

	var created struct {
		ResearchID string   `json:"research_id"`
		Questions  []string `json:"followup_questions"`
	}
	err := c.until(ctx, http.MethodPost, "/api/research/questions", key, map[string]any{"initial_prompt": prompt, "num_questions": 2}, &created)
	if err != nil {
		return "", err
	}
	// A create that was answered too late is known by its key, but has its questions later.
	for len(created.Questions) < 2 {
		var record struct {
			Questions []string `json:"followup_questions"`
		}
		err = c.until(ctx, http.MethodGet, "/api/research/"+created.ResearchID+"?view=summary", "", nil, &record)
		if err != nil {
			return "", err
		}
		created.Questions = record.Questions
	}
	err = c.until(ctx, http.MethodPost, "/api/research/start", key, map[string]any{
		"research_id": created.ResearchID, "followup_answers": []string{"all of it", ""}, "depth": opts.Depth, "breadth": opts.Breadth,
	}, nil)
	if err != nil {
		return "", err
	}
	return c.awaitEnd(ctx, created.ResearchID)
}

func (c *client) awaitEnd(ctx context.Context, id string) (string, error) {
	for {
		var record struct {
			Status string `json:"status"`
		}
		err := c.until(ctx, http.MethodGet, "/api/research/"+id+"?view=summary", "", nil, &record)
		if err != nil {
			return "", err
		}
		switch record.Status {
		case "completed", "failed", "cancelled":
			return record.Status, nil
		}
		err = pause(ctx, 500*time.Millisecond)
		if err != nil {
			return "", fmt.Errorf("research %s is still %s: %w", id, record.Status, err)
		}
	}
}

// until repeats a request until it is answered with 2xx. An answer that says that
// the request itself is wrong ends it.
func (c *client) until(ctx context.Context, method, path, key string, body, into any) error {
	for {
		status, answer, err := c.once(ctx, method, path, key, body)
		switch {
		case err == nil && status/100 == 2:
			if into == nil {
				return nil
			}
			return json.Unmarshal(answer, into)
		case err == nil && status == http.StatusGatewayTimeout && into != nil:
			id := findResearchID(answer)
			if id != "" {
				return json.Unmarshal([]byte(fmt.Sprintf(`{"research_id":%q}`, id)), into)
			}
		case err == nil && status/100 == 4 && status != http.StatusTooManyRequests && status != http.StatusConflict:
			return fmt.Errorf("%s %s: %d: %s", method, path, status, answer)
		}
		err = pause(ctx, 200*time.Millisecond)
		if err != nil {
			return fmt.Errorf("%s %s: last answer %d %s: %w", method, path, status, answer, err)
		}
	}
}

func (c *client) once(ctx context.Context, method, path, key string, body any) (int, []byte, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	if body == nil {
		encoded = nil
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(encoded))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// findResearchID looks for the id that a 504 carries in its details.
func findResearchID(answer []byte) string {
	var problem struct {
		Details []struct {
			Metadata map[string]string `json:"metadata"`
		} `json:"details"`
	}
	if json.Unmarshal(answer, &problem) != nil {
		return ""
	}
	for _, detail := range problem.Details {
		if detail.Metadata["research_id"] != "" {
			return detail.Metadata["research_id"]
		}
	}
	return ""
}

func pause(ctx context.Context, wait time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}
