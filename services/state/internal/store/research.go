package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// Research is the row that a transaction holds the lock of, without its texts.
type Research struct {
	ID           string
	Tenant       string
	Status       workflow.Status
	PausedFrom   workflow.Status
	PausedAt     *time.Time
	Reason       string
	ErrorMessage string

	NumQuestions        int
	Depth               int
	Breadth             int
	AnalysisConcurrency int
	StartDigest         []byte

	Spending Spending
	Budget   Budget
	// Reserved are the tokens that open tasks, and the report to come, may still use.
	Reserved    int64
	QueriesMade int
	PagesUsed   int

	OpenQueries   int
	EventSequence int
	Traceparent   string

	StartedAt  *time.Time
	FinishedAt *time.Time
	Deadline   *time.Time
}

// Spending is what a research consumed of models.
type Spending struct {
	ModelCalls   int
	InputTokens  int64
	OutputTokens int64
}

// Budget bounds a research; 0 is no bound.
type Budget struct {
	Queries int
	Pages   int
	Tokens  int64
	CostUSD float64
	Seconds int
}

// Phase is the status of a research as if it were not paused.
func (r *Research) Phase() workflow.Status {
	if r.Status == workflow.Paused {
		return r.PausedFrom
	}
	return r.Status
}

const researchColumns = `id, tenant, status, coalesce(paused_from, ''), paused_at, reason, error_message,
	num_questions, depth, breadth, analysis_concurrency, start_digest,
	model_calls, input_tokens, output_tokens,
	budget_queries, budget_pages, budget_tokens, budget_cost_usd, budget_seconds,
	reserved_tokens, queries_made, pages_used, open_queries, event_sequence, traceparent, started_at, finished_at, deadline`

func scanResearch(row pgx.CollectableRow) (*Research, error) {
	var r Research
	return &r, row.Scan(r.targets()...)
}

func (r *Research) targets() []any {
	return []any{
		&r.ID, &r.Tenant, &r.Status, &r.PausedFrom, &r.PausedAt, &r.Reason, &r.ErrorMessage,
		&r.NumQuestions, &r.Depth, &r.Breadth, &r.AnalysisConcurrency, &r.StartDigest,
		&r.Spending.ModelCalls, &r.Spending.InputTokens, &r.Spending.OutputTokens,
		&r.Budget.Queries, &r.Budget.Pages, &r.Budget.Tokens, &r.Budget.CostUSD, &r.Budget.Seconds,
		&r.Reserved, &r.QueriesMade, &r.PagesUsed,
		&r.OpenQueries, &r.EventSequence, &r.Traceparent, &r.StartedAt, &r.FinishedAt, &r.Deadline,
	}
}

// Research reads a research as it is now, without its lock.
func (s *Store) Research(ctx context.Context, tenant, id string) (*Research, error) {
	r, err := one(ctx, s.pool, scanResearch,
		"SELECT "+researchColumns+" FROM research WHERE id = $1 AND tenant = $2", id, tenant)
	if err != nil {
		return nil, fmt.Errorf("read research %s: %w", id, err)
	}
	return r, nil
}

// NewResearch is a research at its beginning.
type NewResearch struct {
	ID           string
	Tenant       string
	Prompt       string
	NumQuestions int
	Traceparent  string
	Deadline     time.Duration
}

// insertResearch stores a research that waits for its questions.
func insertResearch(ctx context.Context, p *pipeline, r NewResearch) error {
	err := p.write(ctx, `INSERT INTO research (id, tenant, status, prompt, num_questions, traceparent, deadline)
		VALUES ($1, $2, 'asking', $3, $4, $5, now() + $6)`,
		r.ID, r.Tenant, r.Prompt, r.NumQuestions, r.Traceparent, r.Deadline)
	if err != nil {
		return fmt.Errorf("insert research %s: %w", r.ID, err)
	}
	return nil
}

// Dialogue is what was said with the person.
type Dialogue struct {
	Prompt    string
	Questions []string
	Answers   []string
}

func scanDialogue(row pgx.CollectableRow) (Dialogue, error) {
	var d Dialogue
	return d, row.Scan(&d.Prompt, &d.Questions, &d.Answers)
}

const selectDialogue = "SELECT prompt, questions, answers FROM research WHERE id = $1 AND tenant = $2"

// Dialogue reads the prompt, the questions and the answers.
func (s *Store) Dialogue(ctx context.Context, tenant, id string) (Dialogue, error) {
	d, err := one(ctx, s.pool, scanDialogue, selectDialogue, id, tenant)
	if err != nil {
		return d, fmt.Errorf("read the dialogue of research %s: %w", id, err)
	}
	return d, nil
}

// Dialogue reads the prompt, the questions and the answers.
func (t *Tx) Dialogue(ctx context.Context) (Dialogue, error) {
	d, err := one(ctx, t.tx, scanDialogue, selectDialogue, t.R.ID, t.R.Tenant)
	if err != nil {
		return d, fmt.Errorf("read the dialogue of research %s: %w", t.R.ID, err)
	}
	return d, nil
}

// SaveQuestions stores the follow-up questions.
func (t *Tx) SaveQuestions(ctx context.Context, questions []string) error {
	err := t.tx.write(ctx, "UPDATE research SET questions = $3 WHERE id = $1 AND tenant = $2",
		t.R.ID, t.R.Tenant, questions)
	if err != nil {
		return fmt.Errorf("save the questions of research %s: %w", t.R.ID, err)
	}
	return nil
}

// Start is what a person starts a research with.
type Start struct {
	Answers             []string
	Depth               int
	Breadth             int
	PlannedQueries      int
	Digest              []byte
	AnalysisConcurrency int
	Language            string
	TimeRange           string
	Categories          []string
	SafeSearch          int
	ReportWords         int
	ReportSources       int
	Budget              Budget
}

// SaveStart stores what the research was started with.
func (t *Tx) SaveStart(ctx context.Context, s Start) error {
	err := t.tx.write(ctx, `UPDATE research SET
		answers = $3, depth = $4, breadth = $5, planned_queries = $6, start_digest = $7,
		analysis_concurrency = $8, language = $9, time_range = $10, categories = $11, safe_search = $12,
		report_words = $13, report_sources = $14,
		budget_queries = $15, budget_pages = $16, budget_tokens = $17, budget_cost_usd = $18, budget_seconds = $19
		WHERE id = $1 AND tenant = $2`,
		t.R.ID, t.R.Tenant, s.Answers, s.Depth, s.Breadth, s.PlannedQueries, s.Digest,
		s.AnalysisConcurrency, s.Language, s.TimeRange, s.Categories, s.SafeSearch,
		s.ReportWords, s.ReportSources,
		s.Budget.Queries, s.Budget.Pages, s.Budget.Tokens, s.Budget.CostUSD, s.Budget.Seconds)
	if err != nil {
		return fmt.Errorf("save the start of research %s: %w", t.R.ID, err)
	}
	t.R.Depth, t.R.Breadth, t.R.StartDigest = s.Depth, s.Breadth, s.Digest
	t.R.AnalysisConcurrency, t.R.Budget = s.AnalysisConcurrency, s.Budget
	return nil
}

// Delete removes the research with all that belongs to it. What it used stays with
// its tenant.
func (t *Tx) Delete(ctx context.Context) error {
	t.R.Reserved = 0
	err := t.keepUsage(ctx)
	if err != nil {
		return fmt.Errorf("keep the usage of research %s: %w", t.R.ID, err)
	}
	err = t.tx.write(ctx, "DELETE FROM research WHERE id = $1 AND tenant = $2", t.R.ID, t.R.Tenant)
	if err != nil {
		return fmt.Errorf("delete research %s: %w", t.R.ID, err)
	}
	t.deleted = true
	return nil
}
