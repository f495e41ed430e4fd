package message

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

func (b *Builder) report(ctx context.Context, task store.Task, message *workv1.Task) error {
	record, err := b.store.Evidence(ctx, task.Tenant, task.ResearchID)
	if err != nil {
		return err
	}
	tally := Count(record)
	message.Payload = &workv1.Task_Report{Report: &workv1.ReportTask{
		Prompt:         record.Prompt,
		Clarifications: clarifications(record.Dialogue),
		Queries:        tree(record),
		Words:          int32(orDefault(record.ReportWords, b.limits.Words)),
		Sources:        int32(orDefault(record.ReportSources, b.limits.Sources)),
		Notes:          notes(record, tally),
		Tally:          tally,
	}}
	return nil
}

func tree(record *store.Record) []*workv1.ReportQuery {
	queries := make([]*workv1.ReportQuery, len(record.Queries))
	byID := make(map[string]*workv1.ReportQuery, len(record.Queries))
	for i, q := range record.Queries {
		queries[i] = &workv1.ReportQuery{
			QueryId: q.ID, ParentQueryId: q.ParentID, Depth: int32(q.Depth), Text: q.Text, Objective: q.Objective,
			Status: string(q.Status), Reason: q.Reason,
		}
		byID[q.ID] = queries[i]
	}
	for _, site := range record.Sites {
		query := byID[site.QueryID]
		for _, e := range record.Extractions[site.ID] {
			finding, copied := record.Originals[e.ID]
			if !copied {
				finding = store.Finding{Extraction: e, URL: site.URL, Title: site.Title, Published: site.Published}
			}
			query.Extractions = append(query.Extractions, extraction(finding))
		}
	}
	return queries
}

// Count tallies how the queries and pages of a research ended.
func Count(record *store.Record) *workv1.Tally {
	tally := &workv1.Tally{Reasons: make(map[string]int32)}
	for _, q := range record.Queries {
		switch q.Status {
		case workflow.QueryCompleted:
			tally.QueriesCompleted++
		case workflow.QueryFailed:
			tally.QueriesFailed++
		case workflow.QueryProcessing:
			continue
		}
		tally.Reasons[q.Reason]++
	}
	for _, site := range record.Sites {
		switch site.Status {
		case workflow.SiteAnalyzed:
			tally.PagesAnalyzed++
		case workflow.SiteFailed:
			tally.PagesFailed++
		case workflow.SitePending, workflow.SiteScraping, workflow.SiteScraped:
			continue
		}
		tally.Reasons[site.Reason]++
	}
	return tally
}

// notes say what limited the research, for the report's note on method.
func notes(record *store.Record, tally *workv1.Tally) []string {
	var lines []string
	if record.Reason == string(fault.Deadline) {
		lines = append(lines, "The research reached its time limit before all queries were processed.")
	}
	if record.Reason == string(fault.OverBudget) {
		lines = append(lines, strings.TrimSuffix(record.ErrorMessage, ".")+" before all queries were processed.")
	}
	if tally.GetQueriesFailed() > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d queries could not be processed.", tally.GetQueriesFailed(), len(record.Queries)))
	}
	if tally.GetPagesFailed() > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d pages could not be read or analyzed.",
			tally.GetPagesFailed(), tally.GetPagesFailed()+tally.GetPagesAnalyzed()))
	}
	if len(record.Sites) == 0 {
		lines = append(lines, "No search found a page.")
	}
	return lines
}

func clarifications(d store.Dialogue) []*workv1.Clarification {
	pairs := make([]*workv1.Clarification, len(d.Questions))
	for i, question := range d.Questions {
		pairs[i] = &workv1.Clarification{Question: question}
		if i < len(d.Answers) {
			pairs[i].Answer = d.Answers[i]
		}
	}
	return pairs
}

func extraction(f store.Finding) *workv1.Extraction {
	return &workv1.Extraction{
		Claim: f.Claim, Quote: f.Quote, Start: int32(f.Start), End: int32(f.End),
		Url: f.URL, Title: f.Title, Published: timestamp(f.Published),
		HeadingPath: f.HeadingPath, Page: int32(f.Page), Relevance: f.Relevance, ExtractionId: f.ID,
	}
}

func decodePage(encoded []byte) (*workv1.Page, error) {
	page := new(workv1.Page)
	if len(encoded) == 0 {
		return page, nil
	}
	err := protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(encoded, page)
	if err != nil {
		return nil, fmt.Errorf("decode a page: %w", err)
	}
	return page, nil
}

func timestamp(t *time.Time) *timestamppb.Timestamp {
	if t == nil {
		return nil
	}
	return timestamppb.New(*t)
}

func orDefault(value, fallback int) int {
	if value > 0 {
		return value
	}
	return fallback
}
