package service

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

const (
	maxPrompt      = 32 << 10
	maxQuestions   = 20
	maxKey         = 255
	maxConcurrency = 100
	maxWords       = 20000
	maxSources     = 1000
	maxCategories  = 16
	maxOption      = 64
)

func checkCreate(r *researchv1.CreateQuestionsRequest) error {
	switch {
	case strings.TrimSpace(r.GetInitialPrompt()) == "":
		return invalid("Initial prompt cannot be empty")
	case r.GetNumQuestions() <= 0:
		return invalid("Number of questions must be a positive integer")
	case r.GetNumQuestions() > maxQuestions:
		return invalid("Number of questions must be at most %d", maxQuestions)
	}
	err := checkText("Initial prompt", r.GetInitialPrompt())
	if err != nil {
		return err
	}
	return checkKey(r.GetIdempotencyKey())
}

func checkText(name, text string) error {
	switch {
	case len(text) > maxPrompt:
		return invalid("%s must be at most %d bytes", name, maxPrompt)
	case strings.IndexByte(text, 0) >= 0:
		return invalid("%s must not contain NUL characters", name)
	case !utf8.ValidString(text):
		return invalid("%s must be valid UTF-8", name)
	}
	return nil
}

func checkKey(key string) error {
	if len(key) > maxKey {
		return invalid("Idempotency-Key must be at most %d bytes", maxKey)
	}
	if strings.IndexByte(key, 0) >= 0 || !utf8.ValidString(key) {
		return invalid("Idempotency-Key must be printable text")
	}
	return nil
}

func (s *Service) checkStart(r *researchv1.StartResearchRequest) error {
	switch {
	case r.GetDepth() <= 0:
		return invalid("Depth must be a positive integer")
	case r.GetBreadth() <= 0:
		return invalid("Breadth must be a positive integer")
	case len(r.GetFollowupQuestions()) > 0 && len(r.GetFollowupQuestions()) != len(r.GetFollowupAnswers()):
		return invalid("Number of answers must match number of questions")
	case len(r.GetFollowupAnswers()) > maxQuestions:
		return invalid("Number of answers must match number of questions")
	}
	size := workflow.TreeSize(int(r.GetDepth()), int(r.GetBreadth()))
	if !size.IsInt64() || size.Int64() > int64(s.settings.MaxQueries) {
		return invalid("Depth %d and breadth %d make %s queries, more than the limit of %d",
			r.GetDepth(), r.GetBreadth(), size, s.settings.MaxQueries)
	}
	for i, text := range r.GetFollowupAnswers() {
		err := checkText(fmt.Sprintf("Answer %d", i+1), text)
		if err != nil {
			return err
		}
	}
	err := checkOptions(r)
	if err != nil {
		return err
	}
	return checkKey(r.GetIdempotencyKey())
}

func checkOptions(r *researchv1.StartResearchRequest) error {
	switch {
	case r.GetAnalysisConcurrency() < 0 || r.GetAnalysisConcurrency() > maxConcurrency:
		return invalid("Analysis concurrency must be between 1 and %d", maxConcurrency)
	case r.GetReportWords() < 0 || r.GetReportWords() > maxWords:
		return invalid("Report words must be between 1 and %d", maxWords)
	case r.GetReportSources() < 0 || r.GetReportSources() > maxSources:
		return invalid("Report sources must be between 1 and %d", maxSources)
	}
	err := checkSearch(r.GetSearch())
	if err != nil {
		return err
	}
	b := r.GetBudget()
	if b.GetQueries() < 0 || b.GetPages() < 0 || b.GetModelTokens() < 0 || b.GetSeconds() < 0 ||
		b.GetCostUsd() < 0 || math.IsNaN(b.GetCostUsd()) || math.IsInf(b.GetCostUsd(), 0) {
		return invalid("Budget must not be negative")
	}
	return nil
}

func checkSearch(o *researchv1.SearchOptions) error {
	if !slices.Contains([]string{"", "day", "week", "month", "year"}, o.GetTimeRange()) {
		return invalid("Search time range must be day, week, month or year")
	}
	if o.GetSafeSearch() < 0 || o.GetSafeSearch() > 2 {
		return invalid("Search safe_search must be 0, 1 or 2")
	}
	if len(o.GetCategories()) > maxCategories {
		return invalid("Search categories must be at most %d", maxCategories)
	}
	for _, text := range append(slices.Clone(o.GetCategories()), o.GetLanguage()) {
		if len(text) > maxOption || strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text) {
			return invalid("Search language and categories must be text of at most %d bytes", maxOption)
		}
	}
	return nil
}

// startValues are the values that the request stands for, defaults filled in, with
// the digest that tells them from others.
func startValues(r *researchv1.StartResearchRequest) store.Start {
	b := r.GetBudget()
	values := store.Start{
		Answers:             nonNil(r.GetFollowupAnswers()),
		Depth:               int(r.GetDepth()),
		Breadth:             int(r.GetBreadth()),
		PlannedQueries:      int(workflow.TreeSize(int(r.GetDepth()), int(r.GetBreadth())).Int64()),
		AnalysisConcurrency: max(1, int(r.GetAnalysisConcurrency())),
		Language:            r.GetSearch().GetLanguage(),
		TimeRange:           r.GetSearch().GetTimeRange(),
		Categories:          nonNil(r.GetSearch().GetCategories()),
		SafeSearch:          int(r.GetSearch().GetSafeSearch()),
		ReportWords:         int(r.GetReportWords()),
		ReportSources:       int(r.GetReportSources()),
		Budget: store.Budget{
			Queries: int(b.GetQueries()), Pages: int(b.GetPages()), Tokens: b.GetModelTokens(),
			CostUSD: b.GetCostUsd(), Seconds: int(b.GetSeconds()),
		},
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", []any{
		values.Answers, values.Depth, values.Breadth, values.AnalysisConcurrency, values.Language, values.TimeRange,
		values.Categories, values.SafeSearch, values.ReportWords, values.ReportSources, values.Budget,
	}))
	values.Digest = sum[:]
	return values
}

// claim makes the wish for an idempotency key, nil without one. request is the body
// without its key.
func claim(method, key string, request proto.Message) (*store.KeyClaim, error) {
	if key == "" {
		return nil, nil
	}
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("digest a request: %w", err)
	}
	sum := sha256.Sum256(body)
	return &store.KeyClaim{Method: method, Key: key, Digest: sum[:]}, nil
}

func nonNil(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}
