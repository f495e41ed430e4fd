package state

import (
	"errors"
	"fmt"
	"time"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/services/state/internal/store"
)

// Config is the service's configuration.
type Config struct {
	// DatabaseURL names the Postgres database, which belongs to state alone.
	DatabaseURL string `env:"FATHOM_DATABASE_URL"`
	// DatabaseConnections is the most connections at once.
	DatabaseConnections int `env:"FATHOM_DATABASE_CONNECTIONS" envDefault:"16"`
	// Addr is where gRPC is served, unless a listener is given.
	Addr string `env:"FATHOM_STATE_ADDR" envDefault:"127.0.0.1:9000"`
	// ResultSlots is how many results are applied at once.
	ResultSlots int `env:"FATHOM_RESULT_SLOTS" envDefault:"8"`

	// MaxQueries is the largest tree.
	MaxQueries int `env:"FATHOM_MAX_QUERIES" envDefault:"1000"`
	// SearchLimit is the most pages of a query.
	SearchLimit int `env:"FATHOM_SEARCH_LIMIT" envDefault:"7"`
	// DomainPages is the most pages of one registrable domain that a research reads;
	// 0 is no bound.
	DomainPages int `env:"FATHOM_DOMAIN_PAGES" envDefault:"100"`
	// RawLifetime is how long the bytes of a page are kept as they were served; 0 is
	// for ever. The page's text stays.
	RawLifetime time.Duration `env:"FATHOM_RAW_LIFETIME" envDefault:"720h"`
	// Deadline bounds a research from its start, pauses not counted.
	Deadline time.Duration `env:"FATHOM_RESEARCH_DEADLINE" envDefault:"2h"`
	// ReportGrace is how long after the deadline the report may still be written.
	ReportGrace time.Duration `env:"FATHOM_REPORT_GRACE" envDefault:"15m"`
	// QuestionsWait is how long a request waits for its follow-up questions.
	QuestionsWait time.Duration `env:"FATHOM_QUESTIONS_WAIT" envDefault:"150s"`

	// The limits bound one try of a task of each kind.
	LimitQuestions time.Duration `env:"FATHOM_LIMIT_QUESTIONS" envDefault:"120s"`
	LimitQueries   time.Duration `env:"FATHOM_LIMIT_QUERIES" envDefault:"180s"`
	LimitSearch    time.Duration `env:"FATHOM_LIMIT_SEARCH" envDefault:"30s"`
	LimitScrape    time.Duration `env:"FATHOM_LIMIT_SCRAPE" envDefault:"35s"`
	LimitAnalyze   time.Duration `env:"FATHOM_LIMIT_ANALYZE" envDefault:"180s"`
	LimitReport    time.Duration `env:"FATHOM_LIMIT_REPORT" envDefault:"900s"`

	// Attempts is the most tries of a task.
	Attempts int `env:"FATHOM_ATTEMPTS" envDefault:"4"`
	// Backoff is the wait after a task's first failed try; it doubles up to BackoffMax.
	Backoff    time.Duration `env:"FATHOM_BACKOFF" envDefault:"2s"`
	BackoffMax time.Duration `env:"FATHOM_BACKOFF_MAX" envDefault:"1m"`

	// SweepEvery is the time between two looks for lost tasks and deadlines.
	SweepEvery time.Duration `env:"FATHOM_SWEEP_EVERY" envDefault:"5s"`
	// LostAfter is how long after its publish a task is looked for.
	LostAfter time.Duration `env:"FATHOM_LOST_AFTER" envDefault:"15s"`

	// ReportWords and ReportSources bound a report that nobody bounds otherwise.
	ReportWords   int `env:"FATHOM_REPORT_WORDS" envDefault:"1500"`
	ReportSources int `env:"FATHOM_REPORT_SOURCES" envDefault:"25"`

	// The tokens bound what one task may use of a model, when its research
	// or tenant has a budget of tokens or cost: as much is set aside before it begins.
	TokensQuestions int64 `env:"FATHOM_TOKENS_QUESTIONS" envDefault:"16000"`
	TokensQueries   int64 `env:"FATHOM_TOKENS_QUERIES" envDefault:"16000"`
	TokensAnalyze   int64 `env:"FATHOM_TOKENS_ANALYZE" envDefault:"24000"`
	TokensReport    int64 `env:"FATHOM_TOKENS_REPORT" envDefault:"100000"`

	// PriceInput and PriceOutput are the model's prices in USD for a million tokens;
	// 0 is unknown.
	PriceInput  float64 `env:"FATHOM_PRICE_INPUT" envDefault:"0"`
	PriceOutput float64 `env:"FATHOM_PRICE_OUTPUT" envDefault:"0"`

	// The tenant's budget is what all researches of one tenant may use together, those
	// that ended and were deleted included; 0 is no bound.
	TenantQueries int     `env:"FATHOM_TENANT_QUERIES" envDefault:"0"`
	TenantPages   int     `env:"FATHOM_TENANT_PAGES" envDefault:"0"`
	TenantTokens  int64   `env:"FATHOM_TENANT_TOKENS" envDefault:"0"`
	TenantCostUSD float64 `env:"FATHOM_TENANT_COST_USD" envDefault:"0"`
}

// Validate implements config.Validator.
func (c *Config) Validate() error {
	var wrong []error
	if c.DatabaseURL == "" {
		wrong = append(wrong, errors.New("FATHOM_DATABASE_URL must be set"))
	}
	for name, value := range map[string]int{
		"FATHOM_DATABASE_CONNECTIONS": c.DatabaseConnections, "FATHOM_RESULT_SLOTS": c.ResultSlots,
		"FATHOM_MAX_QUERIES": c.MaxQueries, "FATHOM_SEARCH_LIMIT": c.SearchLimit, "FATHOM_ATTEMPTS": c.Attempts,
		"FATHOM_REPORT_WORDS": c.ReportWords, "FATHOM_REPORT_SOURCES": c.ReportSources,
	} {
		if value < 1 || value > 1<<20 {
			wrong = append(wrong, fmt.Errorf("%s must be between 1 and %d", name, 1<<20))
		}
	}
	for name, value := range map[string]time.Duration{
		"FATHOM_RESEARCH_DEADLINE": c.Deadline, "FATHOM_REPORT_GRACE": c.ReportGrace, "FATHOM_QUESTIONS_WAIT": c.QuestionsWait,
		"FATHOM_LIMIT_QUESTIONS": c.LimitQuestions, "FATHOM_LIMIT_QUERIES": c.LimitQueries, "FATHOM_LIMIT_SEARCH": c.LimitSearch,
		"FATHOM_LIMIT_SCRAPE": c.LimitScrape, "FATHOM_LIMIT_ANALYZE": c.LimitAnalyze, "FATHOM_LIMIT_REPORT": c.LimitReport,
		"FATHOM_BACKOFF": c.Backoff, "FATHOM_BACKOFF_MAX": c.BackoffMax,
		"FATHOM_SWEEP_EVERY": c.SweepEvery, "FATHOM_LOST_AFTER": c.LostAfter,
	} {
		if value <= 0 {
			wrong = append(wrong, fmt.Errorf("%s must be longer than 0", name))
		}
	}
	if c.DomainPages < 0 {
		wrong = append(wrong, errors.New("FATHOM_DOMAIN_PAGES must not be negative"))
	}
	if c.RawLifetime < 0 {
		wrong = append(wrong, errors.New("FATHOM_RAW_LIFETIME must not be negative"))
	}
	if min(c.TokensQuestions, c.TokensQueries, c.TokensAnalyze, c.TokensReport) < 1 {
		wrong = append(wrong, errors.New("FATHOM_TOKENS_QUESTIONS, _QUERIES, _ANALYZE and _REPORT must be positive"))
	}
	if c.PriceInput < 0 || c.PriceOutput < 0 {
		wrong = append(wrong, errors.New("FATHOM_PRICE_INPUT and FATHOM_PRICE_OUTPUT must not be negative"))
	}
	return errors.Join(append(wrong, c.validateTenant()...)...)
}

func (c *Config) validateTenant() []error {
	var wrong []error
	if c.TenantQueries < 0 || c.TenantPages < 0 || c.TenantTokens < 0 || !(c.TenantCostUSD >= 0) {
		wrong = append(wrong, errors.New("FATHOM_TENANT_QUERIES, _PAGES, _TOKENS and _COST_USD must not be negative"))
	}
	if c.TenantCostUSD > 0 && c.PriceInput == 0 && c.PriceOutput == 0 {
		wrong = append(wrong, errors.New("FATHOM_TENANT_COST_USD needs FATHOM_PRICE_INPUT or FATHOM_PRICE_OUTPUT"))
	}
	return wrong
}

func (c *Config) tenantBudget() store.Budget {
	return store.Budget{Queries: c.TenantQueries, Pages: c.TenantPages, Tokens: c.TenantTokens, CostUSD: c.TenantCostUSD}
}

func (c *Config) times() map[bus.Kind]time.Duration {
	return map[bus.Kind]time.Duration{
		bus.Questions: c.LimitQuestions, bus.Queries: c.LimitQueries, bus.Search: c.LimitSearch,
		bus.Scrape: c.LimitScrape, bus.Analyze: c.LimitAnalyze, bus.Report: c.LimitReport,
	}
}
