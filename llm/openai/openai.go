// Package openai asks any server that speaks OpenAI's chat completions: OpenAI
// itself, vLLM, Ollama, llama.cpp, OpenRouter and their like. What a server does not
// know (JSON schemas, a temperature, the newer name of a parameter) is found out
// from its refusals and not sent again.
package openai

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/fathom-research/fathom/llm"
	"github.com/fathom-research/fathom/platform/fault"
)

// longestWait is how long a call waits within itself for a server that asks to come
// again; for longer the task is given back, so that its slot serves another one.
const longestWait = 5 * time.Second

// Client asks one server.
type Client struct {
	config      llm.Config
	completions sdk.ChatCompletionService
	transport   *http.Transport
	learned     memory
}

var _ llm.Client = (*Client)(nil)

// New makes a client. The process's OPENAI_* variables are not read: a key must not
// go to a server that it was not meant for.
func New(config llm.Config) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 128
	options := []option.RequestOption{
		option.WithBaseURL(strings.TrimRight(config.URL(), "/") + "/"),
		option.WithHTTPClient(&http.Client{Transport: transport}),
		option.WithMaxRetries(config.Retries),
		option.WithMaxRetryDelay(longestWait),
		option.WithRequestTimeout(config.Timeout),
		option.WithHeader("User-Agent", "fathom"),
	}
	if config.APIKey != "" {
		options = append(options, option.WithAPIKey(config.APIKey))
	}
	return &Client{
		config:      config,
		completions: sdk.NewChatCompletionService(options...),
		transport:   transport,
		learned:     memory{known: make(map[string]dialect)},
	}
}

// Close drops the connections that are kept open.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Chat makes one call. A request that the server refuses for its form is sent again
// in a plainer one.
func (c *Client) Chat(ctx context.Context, request llm.Request) (*llm.Answer, error) {
	model := c.config.ModelOf(request.Role)
	if model == "" {
		return nil, fault.Permanent(fault.Misconfigured, "no model is set for the %s: set FATHOM_LLM_MODEL", request.Role)
	}
	form := c.learned.of(model, c.config.BaseURL == "")
	if request.Schema == nil {
		form.format = formatPlain
	}
	for {
		completion, err := c.completions.New(ctx, form.params(model, request))
		if err == nil {
			c.learned.keep(model, form, request.Schema != nil)
			return read(model, completion)
		}
		plainer, ok := form.after(err, request)
		if !ok {
			return nil, c.failure(ctx, err)
		}
		form = plainer
	}
}

func read(model string, completion *sdk.ChatCompletion) (*llm.Answer, error) {
	if len(completion.Choices) == 0 {
		return nil, fault.Transient(fault.Unavailable, "the model server answered without a choice")
	}
	choice := completion.Choices[0]
	if choice.Message.Refusal != "" {
		return nil, fault.Transient(fault.InvalidAnswer, "the model refused: %s", brief(choice.Message.Refusal))
	}
	if choice.FinishReason == "content_filter" {
		return nil, fault.Transient(fault.InvalidAnswer, "the provider's content filter held the answer back")
	}
	return &llm.Answer{
		Text:      choice.Message.Content,
		Truncated: choice.FinishReason == "length",
		Usage: llm.Usage{
			Model:        cmp.Or(completion.Model, model),
			Calls:        1,
			InputTokens:  completion.Usage.PromptTokens,
			OutputTokens: completion.Usage.CompletionTokens,
		},
	}, nil
}

// messages puts the prompt's parts into their roles.
func (d dialect) messages(request llm.Request) []sdk.ChatCompletionMessageParamUnion {
	system, user := request.System, request.User
	if request.Schema != nil && d.format != formatSchema {
		system += "\n\nAnswer with one JSON value and nothing else. It must match this JSON schema:\n" + string(request.Schema.Schema)
	}
	if system == "" || d.systemless {
		return []sdk.ChatCompletionMessageParamUnion{sdk.UserMessage(strings.TrimSpace(system + "\n\n" + user))}
	}
	return []sdk.ChatCompletionMessageParamUnion{sdk.SystemMessage(system), sdk.UserMessage(user)}
}

func (d dialect) params(model string, request llm.Request) sdk.ChatCompletionNewParams {
	params := sdk.ChatCompletionNewParams{Model: model, Messages: d.messages(request)}
	if !d.fixedTemperature {
		params.Temperature = sdk.Float(request.Temperature)
	}
	if request.MaxTokens > 0 && d.newTokenName {
		params.MaxCompletionTokens = sdk.Int(int64(request.MaxTokens))
	} else if request.MaxTokens > 0 {
		params.MaxTokens = sdk.Int(int64(request.MaxTokens))
	}
	switch d.format {
	case formatSchema:
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
				Name: request.Schema.Name, Schema: request.Schema.Schema, Strict: sdk.Bool(true),
			},
		}
	case formatObject:
		params.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	}
	return params
}

// statusOf is the HTTP status that err carries, or 0.
func statusOf(err error) (int, *sdk.Error) {
	var refusal *sdk.Error
	if errors.As(err, &refusal) {
		return refusal.StatusCode, refusal
	}
	return 0, nil
}
