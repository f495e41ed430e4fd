// Package client speaks to a gateway: REST and its server-sent events.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
)

// Client is a gateway's client. It is safe for concurrent use.
type Client struct {
	base string
	http *http.Client
}

// Error is a gateway's refusal.
type Error struct {
	Status  int
	Message string
	// ResearchID is set when the research is there although the request failed.
	ResearchID string
}

func (e *Error) Error() string { return e.Message }

// New makes a client of the gateway at base.
func New(base string) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("%q is not the address of a gateway, such as http://127.0.0.1:8080", base)
	}
	// No proxy for the loopback address, and no time limit: questions may take minutes.
	return &Client{base: strings.TrimRight(base, "/"), http: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}}, nil
}

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// CreateQuestions stores a research and returns its follow-up questions.
func (c *Client) CreateQuestions(ctx context.Context, request *researchv1.CreateQuestionsRequest) (*researchv1.CreateQuestionsResponse, error) {
	answer := new(researchv1.CreateQuestionsResponse)
	return answer, c.call(ctx, http.MethodPost, "/api/research/questions", request, answer)
}

// Start starts a research whose questions are answered.
func (c *Client) Start(ctx context.Context, request *researchv1.StartResearchRequest) (*researchv1.StartResearchResponse, error) {
	answer := new(researchv1.StartResearchResponse)
	return answer, c.call(ctx, http.MethodPost, "/api/research/start", request, answer)
}

// Get returns a research's record, without texts when view is "summary".
func (c *Client) Get(ctx context.Context, id, view string) (*researchv1.Research, error) {
	path := route(id, "")
	if view != "" {
		path += "?view=" + url.QueryEscape(view)
	}
	answer := new(researchv1.Research)
	return answer, c.call(ctx, http.MethodGet, path, nil, answer)
}

// List returns one page of researches, the newest first.
func (c *Client) List(ctx context.Context, request *researchv1.ListResearchesRequest) (*researchv1.ListResearchesResponse, error) {
	values := url.Values{}
	if request.GetPageSize() != 0 {
		values.Set("page_size", fmt.Sprint(request.GetPageSize()))
	}
	if request.GetPageToken() != "" {
		values.Set("page_token", request.GetPageToken())
	}
	if request.GetStatus() != "" {
		values.Set("status", request.GetStatus())
	}
	answer := new(researchv1.ListResearchesResponse)
	return answer, c.call(ctx, http.MethodGet, "/api/research?"+values.Encode(), nil, answer)
}

// Control is something that is done to a research.
type Control string

// The controls.
const (
	Cancel Control = "cancel"
	Pause  Control = "pause"
	Resume Control = "resume"
)

// Control does what to a research and returns its state.
func (c *Client) Control(ctx context.Context, id string, what Control) (*researchv1.ResearchState, error) {
	answer := new(researchv1.ResearchState)
	return answer, c.call(ctx, http.MethodPost, route(id, string(what)), &researchv1.CancelResearchRequest{}, answer)
}

// Delete removes all that is stored of a research.
func (c *Client) Delete(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, route(id, ""), nil, new(researchv1.DeleteResearchResponse))
}

// Report returns a research's report as a document of the media type.
func (c *Client) Report(ctx context.Context, id, mediaType string) (string, error) {
	body, err := c.do(ctx, http.MethodGet, route(id, "report"), mediaType, nil)
	return string(body), err
}

// ErrorOutput returns what a research could not process, as Markdown.
func (c *Client) ErrorOutput(ctx context.Context, id string) (string, error) {
	body, err := c.do(ctx, http.MethodGet, route(id, "error-output"), "text/markdown", nil)
	return string(body), err
}

// Snapshot returns a page of a research as it was read.
func (c *Client) Snapshot(ctx context.Context, id, page string) ([]byte, error) {
	return c.do(ctx, http.MethodGet, route(id, "snapshot")+"?url="+url.QueryEscape(page), "*/*", nil)
}

func route(id, what string) string {
	path := "/api/research/" + url.PathEscape(id)
	if what != "" {
		path += "/" + what
	}
	return path
}

func (c *Client) call(ctx context.Context, method, path string, request, answer proto.Message) error {
	var body []byte
	if request != nil {
		encoded, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(request)
		if err != nil {
			return fmt.Errorf("encode the request: %w", err)
		}
		body = encoded
	}
	got, err := c.do(ctx, method, path, "application/json", body)
	if err != nil {
		return err
	}
	err = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(got, answer)
	if err != nil {
		return fmt.Errorf("read the gateway's answer to %s %s: %w", method, path, err)
	}
	return nil
}

func (c *Client) do(ctx context.Context, method, path, accept string, body []byte) ([]byte, error) {
	request, err := c.request(ctx, method, path, accept, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask the gateway: %w", err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read the gateway's answer: %w", err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		return nil, refusal(response.StatusCode, got)
	}
	return got, nil
}

func (c *Client) request(ctx context.Context, method, path, accept string, body io.Reader) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, fmt.Errorf("make a request: %w", err)
	}
	request.Header.Set("Accept", accept)
	return request, nil
}

// refusal reads a google.rpc.Status.
func refusal(status int, body []byte) *Error {
	var parsed struct {
		Message string `json:"message"`
		Details []struct {
			Metadata map[string]string `json:"metadata"`
		} `json:"details"`
	}
	e := &Error{Status: status}
	err := json.Unmarshal(body, &parsed)
	if err != nil || parsed.Message == "" {
		e.Message = fmt.Sprintf("the gateway answered %d %s", status, http.StatusText(status))
		return e
	}
	e.Message = parsed.Message
	for _, detail := range parsed.Details {
		if id := detail.Metadata["research_id"]; id != "" {
			e.ResearchID = id
		}
	}
	return e
}
