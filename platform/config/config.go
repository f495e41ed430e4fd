// Package config reads a service's configuration from the environment and checks
// it at start.
package config

import (
	"errors"
	"fmt"
	"os"
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
	var mistakes []error
	err := env.ParseWithOptions(cfg, env.Options{Environment: environment})
	var parsing env.AggregateError
	switch {
	case errors.As(err, &parsing):
		mistakes = append(mistakes, parsing.Errors...)
	case err != nil:
		mistakes = append(mistakes, err)
	}
	if v, ok := cfg.(Validator); ok && err == nil {
		mistakes = append(mistakes, v.Validate())
	}
	err = errors.Join(mistakes...)
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	return nil
}

func environ() map[string]string {
	values := make(map[string]string)
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	return values
}
