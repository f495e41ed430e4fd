package llm

import (
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"time"
)

// The providers.
const (
	ProviderBuiltin = "builtin"
	ProviderOpenAI  = "openai"
)

// openAIURL is where provider openai is asked when no other address is given.
const openAIURL = "https://api.openai.com/v1"

// Config says which model is asked, and how.
type Config struct {
	// Provider is builtin, openai (any server with OpenAI's chat completions), or
	// empty: builtin unless a key or an address is set.
	Provider string `env:"FATHOM_LLM_PROVIDER"`
	BaseURL  string `env:"FATHOM_LLM_BASE_URL"`
	APIKey   string `env:"FATHOM_LLM_API_KEY"`

	// Model is asked by every role that has none of its own.
	Model         string `env:"FATHOM_LLM_MODEL"`
	PlannerModel  string `env:"FATHOM_LLM_MODEL_PLANNER"`
	AnalyzerModel string `env:"FATHOM_LLM_MODEL_ANALYZER"`
	ReporterModel string `env:"FATHOM_LLM_MODEL_REPORTER"`

	// Timeout bounds one request. One that hangs is given up while its task still has
	// time to hand over a failure that says so.
	Timeout time.Duration `env:"FATHOM_LLM_TIMEOUT" envDefault:"90s"`
	// Retries is how often one call is repeated at once when the server is busy or
	// away, before the task is given back to be tried later.
	Retries int `env:"FATHOM_LLM_RETRIES" envDefault:"2"`
	// Concurrent bounds the requests under way over all pods; 0 is no bound.
	Concurrent int `env:"FATHOM_LLM_CONCURRENT" envDefault:"0"`
	// ContextTokens is how much a model reads in one request, prompt and answer
	// together. Prompts are cut to fit into it.
	ContextTokens int `env:"FATHOM_LLM_CONTEXT_TOKENS" envDefault:"32768"`
}

// minContextTokens is what the prompts need besides the texts that they carry.
const minContextTokens = 4096

// Validate returns every mistake.
func (c Config) Validate() error {
	var mistakes []error
	mistake := func(format string, args ...any) { mistakes = append(mistakes, fmt.Errorf(format, args...)) }
	switch c.Provider {
	case "", ProviderBuiltin, ProviderOpenAI:
	default:
		mistake("FATHOM_LLM_PROVIDER is %q: it must be %s or %s", c.Provider, ProviderBuiltin, ProviderOpenAI)
	}
	if c.BaseURL != "" {
		u, err := url.Parse(c.BaseURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			mistake("FATHOM_LLM_BASE_URL is not an http or https address")
		}
	}
	if !c.Builtin() {
		if c.Provider == ProviderOpenAI && c.BaseURL == "" && c.APIKey == "" {
			mistake("FATHOM_LLM_API_KEY must be set, or FATHOM_LLM_BASE_URL for a server that needs no key")
		}
		for _, role := range []Role{Planner, Analyzer, Reporter} {
			if c.ModelOf(role) == "" {
				mistake("FATHOM_LLM_MODEL must name a model (or FATHOM_LLM_MODEL_PLANNER, _ANALYZER and _REPORTER each)")
				break
			}
		}
	}
	if c.Timeout <= 0 {
		mistake("FATHOM_LLM_TIMEOUT must be more than 0")
	}
	if c.Retries < 0 || c.Retries > 10 {
		mistake("FATHOM_LLM_RETRIES must be from 0 to 10")
	}
	if c.Concurrent < 0 {
		mistake("FATHOM_LLM_CONCURRENT must not be negative")
	}
	if c.ContextTokens < minContextTokens {
		mistake("FATHOM_LLM_CONTEXT_TOKENS must be at least %d", minContextTokens)
	}
	return errors.Join(mistakes...)
}

// Builtin reports whether Fathom's own engine does the work, without a model.
func (c Config) Builtin() bool {
	return c.Provider == ProviderBuiltin || (c.Provider == "" && c.APIKey == "" && c.BaseURL == "")
}

// modelSlots is how many tasks wait for a model at once: they cost no processor.
const modelSlots = 64

// Slots is how many tasks a worker does at once: as many as asked for or, when that
// is 0, 64 with a model and one per core with the built-in engine.
func (c Config) Slots(asked int) int {
	switch {
	case asked > 0:
		return asked
	case c.Builtin():
		return runtime.GOMAXPROCS(0)
	default:
		return modelSlots
	}
}

// ModelOf is the model that a role asks.
func (c Config) ModelOf(role Role) string {
	own := map[Role]string{Planner: c.PlannerModel, Analyzer: c.AnalyzerModel, Reporter: c.ReporterModel}[role]
	if own != "" {
		return own
	}
	return c.Model
}

// URL is the address of the server that is asked.
func (c Config) URL() string {
	if c.BaseURL != "" {
		return c.BaseURL
	}
	return openAIURL
}

// LimitKey names the rate limit that all pods which ask the same server share.
func (c Config) LimitKey() string {
	u, err := url.Parse(c.URL())
	if err != nil || u.Host == "" {
		return "model:" + ProviderOpenAI
	}
	return "model:" + u.Host
}
