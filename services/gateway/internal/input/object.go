// Package input checks what comes from outside before anything decodes it, so that
// a refusal names the field and the rule in words for people. Rules that need the
// stored research are state's.
package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fathom-research/fathom/services/gateway/internal/problem"
)

// Object is a checked JSON object.
type Object struct {
	names  []string
	values map[string]json.RawMessage
}

// Parse checks body against the message that it will be decoded into: syntax, only
// known fields, each once, each of its type, text that is valid and without NUL. An
// empty body is an empty object, so that what is missing can be named. Fields in
// hidden are not for clients.
func Parse(body []byte, message protoreflect.MessageDescriptor, hidden ...string) (*Object, error) {
	p := parser{hidden: hidden}
	return p.object(bytes.TrimSpace(body), message, "")
}

// Set puts a text into the object, in place of what it held.
func (o *Object) Set(name, text string) {
	raw, err := json.Marshal(text)
	if err != nil {
		return
	}
	o.put(name, raw)
}

// Empty reports whether nothing is in the object.
func (o *Object) Empty() bool { return len(o.names) == 0 }

// Bytes is the object as JSON.
func (o *Object) Bytes() []byte {
	var buffer bytes.Buffer
	buffer.WriteByte('{')
	for i, name := range o.names {
		if i > 0 {
			buffer.WriteByte(',')
		}
		// Names are those of proto fields: they need no escapes.
		fmt.Fprintf(&buffer, "%q:", name)
		buffer.Write(o.values[name])
	}
	buffer.WriteByte('}')
	return buffer.Bytes()
}

func (o *Object) put(name string, raw json.RawMessage) {
	if _, known := o.values[name]; !known {
		o.names = append(o.names, name)
	}
	o.values[name] = raw
}

type parser struct{ hidden []string }

func (p parser) object(body []byte, message protoreflect.MessageDescriptor, path string) (*Object, error) {
	object := &Object{values: make(map[string]json.RawMessage)}
	if len(body) == 0 {
		return object, nil
	}
	subject := "The body"
	if path != "" {
		subject = strings.TrimSuffix(path, ".")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	first, err := decoder.Token()
	if err != nil {
		return nil, problem.Invalid(strings.TrimSuffix(path, "."), subject+" is broken JSON: "+reason(err))
	}
	if first != json.Delim('{') {
		return nil, problem.Invalid(strings.TrimSuffix(path, "."), subject+" must be a JSON object")
	}
	for decoder.More() {
		err = p.member(decoder, message, path, object)
		if err != nil {
			return nil, err
		}
	}
	_, err = decoder.Token()
	if err != nil {
		return nil, problem.Invalid(strings.TrimSuffix(path, "."), subject+" is broken JSON: "+reason(err))
	}
	_, err = decoder.Token()
	if !errors.Is(err, io.EOF) {
		return nil, problem.Invalid(strings.TrimSuffix(path, "."), subject+" must be one JSON object with nothing after it")
	}
	return object, nil
}

func (p parser) member(decoder *json.Decoder, message protoreflect.MessageDescriptor, path string, object *Object) error {
	key, err := decoder.Token()
	if err != nil {
		return problem.Invalid(path, "The body is broken JSON: "+reason(err))
	}
	name, _ := key.(string)
	field, err := p.field(message, path, name)
	if err != nil {
		return err
	}
	if _, twice := object.values[name]; twice {
		return problem.Invalid(path+name, label(path+name)+" is given twice")
	}
	var raw json.RawMessage
	err = decoder.Decode(&raw)
	if err != nil {
		return problem.Invalid(path+name, label(path+name)+" is broken JSON: "+reason(err))
	}
	err = p.value(raw, field, path+name)
	if err != nil {
		return err
	}
	object.put(name, raw)
	return nil
}

// maxName bounds how much of an unknown field's name is repeated in the message.
const maxName = 80

func (p parser) field(message protoreflect.MessageDescriptor, path, name string) (protoreflect.FieldDescriptor, error) {
	field := message.Fields().ByName(protoreflect.Name(name))
	for _, hidden := range p.hidden {
		if path == "" && name == hidden {
			field = nil
		}
	}
	if field == nil {
		unknown := cut(path+name, maxName)
		return nil, problem.Invalid(unknown, fmt.Sprintf("Unknown field %q", unknown))
	}
	return field, nil
}

func cut(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit]) + "…"
}

// reason is what the JSON decoder found, in words that hold for any body.
func reason(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "it ends too early"
	}
	return err.Error()
}
