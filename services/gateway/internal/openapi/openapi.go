// Package openapi completes the generated description of the REST interface with
// the routes that are written by hand.
package openapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
)

//go:embed handwritten.json
var handwritten []byte

type object = map[string]any

// Document joins the generated description with the routes that are written by hand.
func Document(generated []byte) ([]byte, error) {
	var whole, extra object
	err := json.Unmarshal(generated, &whole)
	if err != nil {
		return nil, fmt.Errorf("read the generated description: %w", err)
	}
	err = json.Unmarshal(handwritten, &extra)
	if err != nil {
		return nil, fmt.Errorf("read the routes written by hand: %w", err)
	}
	whole["info"] = extra["info"]
	maps.Copy(child(whole, "paths"), child(extra, "paths"))
	maps.Copy(child(whole, "definitions"), child(extra, "definitions"))
	withHeaderKeys(whole)
	withErrors(whole)
	document, err := json.MarshalIndent(whole, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the description: %w", err)
	}
	return document, nil
}

// withHeaderKeys says that an idempotency key is sent as a header, not in the body.
func withHeaderKeys(whole object) {
	for _, name := range []string{"v1CreateQuestionsRequest", "v1StartResearchRequest"} {
		delete(child(child(child(whole, "definitions"), name), "properties"), "idempotency_key")
	}
	for _, path := range []string{"/api/research/questions", "/api/research/start"} {
		operation := child(child(child(whole, "paths"), path), "post")
		parameters, _ := operation["parameters"].([]any)
		operation["parameters"] = append(parameters, object{
			"name": "Idempotency-Key", "in": "header", "required": false, "type": "string", "maxLength": 255,
			"description": "The same key with the same body has the same answer and is done once; with another body it is refused with 422.",
		})
	}
}

// withErrors names the refusals that every route knows.
func withErrors(whole object) {
	for path, methods := range child(whole, "paths") {
		if len(path) < len("/api/") || path[:len("/api/")] != "/api/" {
			continue
		}
		for _, operation := range methods.(object) {
			responses := child(operation.(object), "responses")
			for status, meaning := range map[string]string{
				"400": "Bad input: the message names the field and the rule.",
				"404": "There is no such research, or not yet what was asked for of it.",
				"409": "The research's status forbids it.",
				"503": "The research service can't be reached now; try again.",
			} {
				if _, said := responses[status]; !said {
					responses[status] = object{"description": meaning, "schema": object{"$ref": "#/definitions/rpcStatus"}}
				}
			}
		}
	}
}

// child is an object in an object. One that is missing is made, so that nothing
// that is written into it is lost.
func child(parent object, name string) object {
	found, ok := parent[name].(object)
	if !ok {
		found = object{}
		parent[name] = found
	}
	return found
}

// Handler serves the document.
func Handler(document []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		// The client may be gone; nobody is left to be told.
		_, _ = w.Write(document)
	}
}
