package reporter

import (
	"errors"

	"github.com/fathom-research/fathom/llm"
)

// Config is the reporter's configuration.
type Config struct {
	LLM llm.Config

	// Concurrency is how many reports are written at once; 0 is 64 with a model and
	// one per core with the built-in engine.
	Concurrency int `env:"FATHOM_REPORTER_CONCURRENCY" envDefault:"0"`
	// Sections is how many sections of one report are written side by side.
	Sections int `env:"FATHOM_REPORTER_SECTIONS" envDefault:"4"`
}

// Validate returns every mistake.
func (c Config) Validate() error {
	mistakes := []error{c.LLM.Validate()}
	if c.Concurrency < 0 {
		mistakes = append(mistakes, errors.New("FATHOM_REPORTER_CONCURRENCY must not be negative"))
	}
	if c.Sections < 1 {
		mistakes = append(mistakes, errors.New("FATHOM_REPORTER_SECTIONS must be at least 1"))
	}
	return errors.Join(mistakes...)
}
