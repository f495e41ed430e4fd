package service

import (
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/engine"
	"github.com/fathom-research/fathom/services/state/internal/store"
)

func recordProto(r *store.Record, prices engine.Prices) *researchv1.Research {
	answer := &researchv1.Research{
		ResearchId: r.ID, Status: string(r.Status), Reason: r.Reason,
		InitialPrompt: r.Prompt, FollowupQuestions: r.Questions, FollowupAnswers: r.Answers,
		Depth: int32(r.Depth), Breadth: int32(r.Breadth),
		CreatedAt: timestamp(&r.CreatedAt), StartedAt: timestamp(r.StartedAt),
		FinishedAt: timestamp(r.FinishedAt), Deadline: timestamp(r.Deadline),
		Usage: &researchv1.Usage{
			ModelCalls:   int32(r.Spending.ModelCalls),
			InputTokens:  float64(r.Spending.InputTokens),
			OutputTokens: float64(r.Spending.OutputTokens),
			CostUsd:      prices.Cost(float64(r.Spending.InputTokens), float64(r.Spending.OutputTokens)),
		},
		Budget: &researchv1.Budget{
			Queries: int32(r.Budget.Queries), Pages: int32(r.Budget.Pages), ModelTokens: r.Budget.Tokens,
			CostUsd: r.Budget.CostUSD, Seconds: int32(r.Budget.Seconds),
		},
		TraceId: traceID(r.Traceparent),
	}
	if r.Report != nil {
		answer.Report = wrapperspb.String(r.Report.Markdown)
	}
	findings := make(map[string][]*researchv1.QueryFinding)
	for _, site := range r.Sites {
		answer.SuccessfulScrapedWebsites = append(answer.SuccessfulScrapedWebsites, siteProto(site))
		extractions := r.Extractions[site.ID]
		if len(extractions) > 0 {
			findings[site.QueryID] = append(findings[site.QueryID], &researchv1.QueryFinding{Content: finding(extractions), Url: site.URL})
		}
	}
	for _, q := range r.Queries {
		answer.SerpQueries = append(answer.SerpQueries, queryProto(q, findings[q.ID]))
	}
	return answer
}

func queryProto(q store.RecordQuery, findings []*researchv1.QueryFinding) *researchv1.SerpQuery {
	answer := &researchv1.SerpQuery{
		QueryId: q.ID, Text: q.Text, Objective: q.Objective, Depth: int32(q.Depth), Ordinal: int32(q.Ordinal),
		Status: string(q.Status), Reason: q.Reason, ErrorMessage: q.Message, SuccessfulScrapedWebsites: findings,
	}
	if q.ParentID != "" {
		answer.ParentQueryId = wrapperspb.String(q.ParentID)
	}
	return answer
}

func siteProto(s store.RecordSite) *researchv1.Website {
	answer := &researchv1.Website{
		Url: s.URL, Status: string(s.Status), ErrorMessage: s.Message, QueryId: s.QueryID,
		Reason: s.Reason, Title: s.Title, CopyOf: s.CopyOf, Rung: s.Rung,
	}
	if s.Content != nil {
		answer.Content = wrapperspb.String(*s.Content)
	}
	return answer
}

// finding writes extractions as Markdown: each claim, below it the words of the page.
func finding(extractions []store.Extraction) string {
	var b strings.Builder
	for _, e := range extractions {
		b.WriteString("- " + strings.Join(strings.Fields(e.Claim), " ") + "\n")
		if e.Quote != e.Claim {
			b.WriteString("  > " + strings.Join(strings.Fields(e.Quote), " ") + "\n")
		}
	}
	return b.String()
}

func countsProto(counts []store.Count, planned int) *researchv1.Counts {
	answer := &researchv1.Counts{QueriesPlanned: int32(planned), Reasons: make(map[string]int32)}
	fields := map[string]*int32{
		"query processing": &answer.QueriesProcessing, "query completed": &answer.QueriesCompleted, "query failed": &answer.QueriesFailed,
		"website pending": &answer.WebsitesPending, "website scraping": &answer.WebsitesScraping, "website scraped": &answer.WebsitesScraped,
		"website analyzed": &answer.WebsitesAnalyzed, "website failed": &answer.WebsitesFailed,
		"document ": &answer.Documents, "extraction ": &answer.Extractions,
	}
	for _, c := range counts {
		*fields[c.What+" "+c.Status] += int32(c.N)
		if c.Reason != "" {
			answer.Reasons[c.Reason] += int32(c.N)
		}
	}
	return answer
}

func reportProto(id string, report store.Report, result *workv1.ReportResult, extractions map[int64]store.Extraction) *researchv1.Report {
	answer := &researchv1.Report{
		ResearchId: id, Markdown: report.Markdown, Partial: report.Partial, CreatedAt: timestamp(&report.At),
	}
	for _, c := range result.GetCitations() {
		citation := &researchv1.ReportCitation{Number: c.GetNumber(), Url: c.GetUrl(), Title: c.GetTitle(), Published: c.GetPublished()}
		for _, extractionID := range c.GetExtractionIds() {
			e, ok := extractions[extractionID]
			if !ok {
				continue
			}
			citation.Evidence = append(citation.Evidence, &researchv1.Evidence{
				Claim: e.Claim, Quote: e.Quote, Start: int32(e.Start), End: int32(e.End),
				HeadingPath: e.HeadingPath, Page: int32(e.Page), ExtractionId: decimal(extractionID),
			})
		}
		answer.Citations = append(answer.Citations, citation)
	}
	for _, v := range result.GetVerification() {
		sentence := &researchv1.ReportSentence{Sentence: v.GetSentence(), Citations: v.GetCitations(), Supported: v.GetSupported()}
		for _, extractionID := range v.GetExtractionIds() {
			sentence.ExtractionIds = append(sentence.ExtractionIds, decimal(extractionID))
		}
		answer.Verification = append(answer.Verification, sentence)
	}
	return answer
}

func eventProto(researchID string, e store.Event) *researchv1.Event {
	return &researchv1.Event{
		Sequence: int32(e.Sequence), Type: e.Type, At: timestamp(&e.At), ResearchId: researchID,
		QueryId: e.QueryID, Url: e.URL, Message: e.Message, Reason: e.Reason,
		QueryText: e.QueryText, ParentQueryId: e.ParentQueryID,
		Depth: int32(e.Depth), Ordinal: int32(e.Ordinal), Count: int32(e.Count),
	}
}

// traceID is the trace's id in a W3C traceparent.
func traceID(traceparent string) string {
	parts := strings.Split(traceparent, "-")
	if len(parts) < 2 {
		return ""
	}
	return parts[1]
}

func decimal(id int64) string { return strconv.FormatInt(id, 10) }

func timestamp(t *time.Time) *timestamppb.Timestamp {
	if t == nil {
		return nil
	}
	return timestamppb.New(*t)
}
