// Package config reads a service's configuration from the environment and checks
// it at start.
package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/caarlos0/env/v11"
)

// Validator is implemented by configurations that have rules beyond their types.
// Validate returns every violated rule, joined by errors.Join; each names the
// variable and the rule.
type Validator interface {
	Validate() error
}

// Load fills cfg, a pointer to a struct with `env` and `envDefault` tags, from the
// process's environment, and validates it. The error lists every mistake at once.
func Load(cfg any) error {
	return LoadFrom(cfg, environ())
}

// LoadFrom is Load with the environment given.
func LoadFrom(cfg any, environment map[string]string) error {
	unparsed, err := parse(cfg, environment)
	if err != nil {
		return err
	}
	var mistakes []error
	for variable, mistake := range unparsed {
		mistakes = append(mistakes, fmt.Errorf("%s: %w", variable, mistake))
	}
	if v, ok := cfg.(Validator); ok {
		mistakes = append(mistakes, besides(unparsed, v.Validate())...)
	}
	err = errors.Join(mistakes...)
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	return nil
}

// parse fills cfg and returns the variables whose values are of the wrong type.
func parse(cfg any, environment map[string]string) (map[string]error, error) {
	unparsed := make(map[string]error)
	err := env.ParseWithOptions(cfg, env.Options{Environment: environment})
	if err == nil {
		return unparsed, nil
	}
	var all env.AggregateError
	if !errors.As(err, &all) {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	for _, one := range all.Errors {
		var wrong env.ParseError
		if !errors.As(one, &wrong) {
			return nil, fmt.Errorf("configuration: %w", err)
		}
		unparsed[variableOf(reflect.TypeOf(cfg).Elem(), wrong.Name)] = fmt.Errorf("not a valid %s: %w", wrong.Type, wrong.Err)
	}
	return unparsed, nil
}

// variableOf finds the variable of a field, which is all that the parser names.
func variableOf(structure reflect.Type, field string) string {
	for _, candidate := range reflect.VisibleFields(structure) {
		tag, tagged := candidate.Tag.Lookup("env")
		if tagged && candidate.Name == field {
			name, _, _ := strings.Cut(tag, ",")
			return name
		}
		if !candidate.Anonymous && candidate.Type.Kind() == reflect.Struct && !tagged {
			name := variableOf(candidate.Type, field)
			if name != field {
				return name
			}
		}
	}
	return field
}

// besides leaves out the rules of variables that hold no value since theirs could
// not be parsed.
func besides(unparsed map[string]error, violated error) []error {
	if violated == nil {
		return nil
	}
	mistakes := []error{violated}
	if joined, ok := violated.(interface{ Unwrap() []error }); ok {
		mistakes = joined.Unwrap()
	}
	return slices.DeleteFunc(slices.Clone(mistakes), func(mistake error) bool {
		for variable := range unparsed {
			if strings.Contains(mistake.Error(), variable) {
				return true
			}
		}
		return false
	})
}

func environ() map[string]string {
	values := make(map[string]string)
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	return values
}
