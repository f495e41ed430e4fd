package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/fathom-research/fathom/platform/fault"
)

// maxAsks is how often one structured answer is asked for.
const maxAsks = 3

// Structured asks for an answer of request.Schema, decodes it into T and lets check
// judge it (and put it in order). An answer that can't be used is told to the model
// together with what is wrong, at most twice; then the error is invalid_answer. The
// usage covers all asks, also when there is an error.
func Structured[T any](ctx context.Context, client Client, request Request, check func(*T) error) (T, Usage, error) {
	var (
		usage   Usage
		refused []*Answer
		problem error
		zero    T
	)
	ask := request
	for range maxAsks {
		answer, err := client.Chat(ctx, ask)
		if err != nil {
			return zero, usage, err
		}
		usage = usage.Add(answer.Usage)
		var value T
		problem = decode(answer, request.Schema, &value)
		if problem == nil && check != nil {
			problem = check(&value)
		}
		if problem == nil {
			return value, usage, nil
		}
		refused = append(refused, answer)
		ask = corrected(request, answer, problem)
	}
	if j, ok := client.(*journalled); ok {
		err := j.spend(ctx, refused)
		if err != nil {
			return zero, usage, err
		}
	}
	return zero, usage, fault.Transient(fault.InvalidAnswer, "the model's answer stays unusable after %d asks: %w", maxAsks, problem)
}

func decode(answer *Answer, schema *Schema, into any) error {
	body, err := Repair(answer.Text)
	if err != nil {
		if answer.Truncated {
			return errors.New("the answer was cut off before it was complete: answer more briefly")
		}
		return err
	}
	body = enclose(body, schema)
	err = json.Unmarshal(body, into)
	if err != nil {
		return fmt.Errorf("the JSON does not have the asked shape: %w", err)
	}
	return nil
}

// enclose puts a bare list into the object that the schema asks for when that has
// one member only: small models often leave the object out.
func enclose(body []byte, schema *Schema) []byte {
	if schema == nil || !bytes.HasPrefix(body, []byte("[")) {
		return body
	}
	var shape struct {
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
	}
	err := json.Unmarshal(schema.Schema, &shape)
	if err != nil || len(shape.Properties) != 1 {
		return body
	}
	for name, property := range shape.Properties {
		if property.Type == "array" {
			return fmt.Appendf(nil, "{%q:%s}", name, body)
		}
	}
	return body
}

// shown is how much of a refused answer is shown to the model again.
const shown = 2000

func corrected(request Request, answer *Answer, problem error) Request {
	var b strings.Builder
	b.WriteString(request.User)
	b.WriteString("\n\nYour previous answer could not be used: ")
	b.WriteString(problem.Error())
	b.WriteString("\nIt began with:\n")
	b.WriteString(strings.ToValidUTF8(answer.Text[:min(len(answer.Text), shown)], ""))
	b.WriteString("\n\nAnswer again, with one JSON value and nothing else.")
	if request.Schema != nil {
		b.WriteString(" It must match this JSON schema:\n")
		b.Write(request.Schema.Schema)
	}
	request.User = b.String()
	return request
}
