package input

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fathom-research/fathom/services/gateway/internal/problem"
)

// maxPrompt bounds a prompt in bytes.
const maxPrompt = 32 << 10

// value checks one field's value. null is as good as leaving the field out.
func (p parser) value(raw json.RawMessage, field protoreflect.FieldDescriptor, name string) error {
	if string(raw) == "null" {
		return nil
	}
	if !utf8.Valid(raw) {
		return problem.Invalid(name, label(name)+" must be valid UTF-8")
	}
	if !field.IsList() {
		return p.single(raw, field, name)
	}
	var elements []json.RawMessage
	err := json.Unmarshal(raw, &elements)
	if err != nil {
		return problem.Invalid(name, label(name)+" must be a list of strings")
	}
	for i, element := range elements {
		if string(element) == "null" {
			return problem.Invalid(name, fmt.Sprintf("%s must be a list of strings: entry %d is null", label(name), i+1))
		}
		err = p.single(element, field, fmt.Sprintf("%s[%d]", name, i))
		if err != nil {
			return err
		}
	}
	return nil
}

func (p parser) single(raw json.RawMessage, field protoreflect.FieldDescriptor, name string) error {
	switch field.Kind() {
	case protoreflect.StringKind:
		return text(raw, name)
	case protoreflect.Int32Kind:
		return integer(raw, name)
	case protoreflect.Int64Kind:
		return wideInteger(raw, name)
	case protoreflect.BoolKind:
		return truth(raw, name)
	case protoreflect.DoubleKind:
		return number(raw, name)
	case protoreflect.MessageKind:
		_, err := p.object(raw, field.Message(), name+".")
		return err
	default:
		return problem.Invalid(name, label(name)+" is of a type that is not served")
	}
}

func text(raw json.RawMessage, name string) error {
	var decoded string
	err := json.Unmarshal(raw, &decoded)
	if err != nil {
		return problem.Invalid(name, label(name)+" must be a string")
	}
	if strings.ContainsRune(decoded, 0) {
		return problem.Invalid(name, label(name)+" must not contain NUL characters")
	}
	if halfPair(raw) {
		return problem.Invalid(name, label(name)+" must be valid Unicode: it has half of a surrogate pair")
	}
	if name == "initial_prompt" && len(decoded) > maxPrompt {
		return problem.Invalid(name, fmt.Sprintf("%s must be at most %d bytes, it has %d", label(name), maxPrompt, len(decoded)))
	}
	return nil
}

func integer(raw json.RawMessage, name string) error {
	value, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || value != math.Trunc(value) || value < math.MinInt32 || value > math.MaxInt32 {
		return problem.Invalid(name, label(name)+integerRule(name))
	}
	return nil
}

func integerRule(name string) string {
	switch name {
	case "num_questions", "depth", "breadth":
		return fmt.Sprintf(" must be a positive integer, at most %d", math.MaxInt32)
	default:
		return fmt.Sprintf(" must be an integer, at most %d", math.MaxInt32)
	}
}

// wideInteger lets a string of digits pass too: that is how JSON carries what a
// double can't.
func wideInteger(raw json.RawMessage, name string) error {
	_, err := strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64)
	if err != nil {
		return problem.Invalid(name, fmt.Sprintf("%s must be an integer, at most %d", label(name), math.MaxInt64))
	}
	return nil
}

func number(raw json.RawMessage, name string) error {
	_, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return problem.Invalid(name, label(name)+" must be a number")
	}
	return nil
}

func truth(raw json.RawMessage, name string) error {
	if string(raw) != "true" && string(raw) != "false" {
		return problem.Invalid(name, label(name)+" must be true or false")
	}
	return nil
}

// halfPair reports whether a JSON string escapes one half of a surrogate pair
// without the other. encoding/json would replace it silently.
func halfPair(raw []byte) bool {
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		if raw[i] != 'u' {
			continue
		}
		first := unit(raw, i+1)
		i += 4
		if !utf16.IsSurrogate(first) {
			continue
		}
		if i+2 >= len(raw) || raw[i+1] != '\\' || raw[i+2] != 'u' {
			return true
		}
		if utf16.DecodeRune(first, unit(raw, i+3)) == utf8.RuneError {
			return true
		}
		i += 6
	}
	return false
}

func unit(raw []byte, start int) rune {
	if start+4 > len(raw) {
		return utf8.RuneError
	}
	value, err := strconv.ParseUint(string(raw[start:start+4]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(value)
}

// label is what people call a field.
func label(name string) string {
	bare, index, _ := strings.Cut(name, "[")
	label, known := map[string]string{
		"initial_prompt":     "Initial prompt",
		"num_questions":      "Number of questions",
		"followup_questions": "Follow-up questions",
		"followup_answers":   "Follow-up answers",
		"depth":              "Depth",
		"breadth":            "Breadth",
	}[bare]
	if !known {
		return name
	}
	if index != "" {
		return label + " [" + index
	}
	return label
}
