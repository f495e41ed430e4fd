package planner

import (
	"errors"
	"fmt"

	"github.com/fathom-research/fathom/llm"
	"github.com/fathom-research/fathom/platform/bus"
)

// Config is the planner's configuration.
type Config struct {
	LLM llm.Config

	// Kinds are the kinds of tasks that this process serves.
	Kinds []bus.Kind `env:"FATHOM_PLANNER_KINDS" envDefault:"questions,queries"`
	// Concurrency is how many tasks of each kind are worked on at once; 0 is 64 with
	// a model and one per core with the built-in engine.
	Concurrency int `env:"FATHOM_PLANNER_CONCURRENCY" envDefault:"0"`
}

// Validate returns every mistake.
func (c Config) Validate() error {
	mistakes := []error{c.LLM.Validate()}
	if len(c.Kinds) == 0 {
		mistakes = append(mistakes, errors.New("FATHOM_PLANNER_KINDS must name questions, queries, or both"))
	}
	for _, kind := range c.Kinds {
		if kind != bus.Questions && kind != bus.Queries {
			mistakes = append(mistakes, fmt.Errorf("FATHOM_PLANNER_KINDS names %q: it may name questions and queries", kind))
		}
	}
	if c.Concurrency < 0 {
		mistakes = append(mistakes, errors.New("FATHOM_PLANNER_CONCURRENCY must not be negative"))
	}
	return errors.Join(mistakes...)
}
