package analyzer

import (
	"errors"

	"github.com/fathom-research/fathom/llm"
)

// Config is the analyzer's configuration.
type Config struct {
	LLM llm.Config

	// Concurrency is how many pages are analyzed at once; 0 is 64 with a model and
	// one per core with the built-in engine.
	Concurrency int `env:"FATHOM_ANALYZER_CONCURRENCY" envDefault:"0"`
	// Windows is how many parts of one long page a model reads at most: those whose
	// words are nearest to the objective.
	Windows int `env:"FATHOM_ANALYZER_WINDOWS" envDefault:"4"`
	// WindowTokens bounds one part; 0 is half of what the model reads, at most 16000.
	WindowTokens int `env:"FATHOM_ANALYZER_WINDOW_TOKENS" envDefault:"0"`
}

// Validate returns every mistake.
func (c Config) Validate() error {
	mistakes := []error{c.LLM.Validate()}
	if c.Concurrency < 0 {
		mistakes = append(mistakes, errors.New("FATHOM_ANALYZER_CONCURRENCY must not be negative"))
	}
	if c.Windows < 1 {
		mistakes = append(mistakes, errors.New("FATHOM_ANALYZER_WINDOWS must be at least 1"))
	}
	if c.WindowTokens < 0 || c.WindowTokens > c.LLM.ContextTokens*3/4 {
		mistakes = append(mistakes, errors.New("FATHOM_ANALYZER_WINDOW_TOKENS must be from 0 to three quarters of FATHOM_LLM_CONTEXT_TOKENS"))
	}
	return errors.Join(mistakes...)
}

func (c Config) windowTokens() int {
	if c.WindowTokens > 0 {
		return c.WindowTokens
	}
	return min(c.LLM.ContextTokens/2, 16000)
}
