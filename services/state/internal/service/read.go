package service

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/timestamppb"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// GetResearch answers with the whole record, or without texts in the summary view.
func (s *Service) GetResearch(ctx context.Context, r *researchv1.GetResearchRequest) (*researchv1.Research, error) {
	if r.GetView() != "" && r.GetView() != "summary" {
		return nil, invalid("View must be empty or summary")
	}
	err := known(r.GetResearchId())
	if err != nil {
		return nil, err
	}
	record, err := s.store.Record(ctx, tenantOf(ctx), r.GetResearchId(), r.GetView() == "")
	if errors.Is(err, store.ErrNotFound) {
		return nil, unknown(r.GetResearchId())
	}
	if err != nil {
		return nil, s.answer(ctx, err, r.GetResearchId())
	}
	counts, err := s.store.Counts(ctx, tenantOf(ctx), []string{r.GetResearchId()})
	if err != nil {
		return nil, s.answer(ctx, err, r.GetResearchId())
	}
	answer := recordProto(record, s.settings.Prices)
	answer.Counts = countsProto(counts, record.PlannedQueries)
	return answer, nil
}

const (
	defaultPage = 50
	maxPage     = 1000
)

// ListResearches lists a tenant's researches, the newest first.
func (s *Service) ListResearches(ctx context.Context, r *researchv1.ListResearchesRequest) (*researchv1.ListResearchesResponse, error) {
	page, err := pageOf(r)
	if err != nil {
		return nil, err
	}
	tenant := tenantOf(ctx)
	limit := page.Limit
	page.Limit++ // one more tells whether there is a next page
	listed, err := s.store.List(ctx, tenant, page)
	if err != nil {
		return nil, s.answer(ctx, err, "")
	}
	answer := new(researchv1.ListResearchesResponse)
	if len(listed) > limit {
		listed = listed[:limit]
		last := listed[limit-1]
		answer.NextPageToken = pageToken(last.CreatedAt, last.ID)
	}
	ids := make([]string, len(listed))
	for i, l := range listed {
		ids[i] = l.ID
	}
	counts, err := s.store.Counts(ctx, tenant, ids)
	if err != nil {
		return nil, s.answer(ctx, err, "")
	}
	byResearch := make(map[string][]store.Count, len(listed))
	for _, c := range counts {
		byResearch[c.ResearchID] = append(byResearch[c.ResearchID], c)
	}
	for _, l := range listed {
		planned := 0
		if l.Depth > 0 {
			planned = int(workflow.TreeSize(l.Depth, l.Breadth).Int64())
		}
		answer.Researches = append(answer.Researches, &researchv1.ResearchSummary{
			ResearchId: l.ID, Status: string(l.Status), InitialPrompt: l.Prompt, Depth: int32(l.Depth), Breadth: int32(l.Breadth),
			CreatedAt: timestamp(&l.CreatedAt), FinishedAt: timestamp(l.FinishedAt), Counts: countsProto(byResearch[l.ID], planned),
		})
	}
	return answer, nil
}

func pageOf(r *researchv1.ListResearchesRequest) (store.Page, error) {
	page := store.Page{Status: r.GetStatus(), Limit: int(r.GetPageSize())}
	if page.Limit == 0 {
		page.Limit = defaultPage
	}
	if page.Limit < 0 || page.Limit > maxPage {
		return page, invalid("Page size must be between 1 and %d", maxPage)
	}
	if page.Status != "" && !workflow.Status(page.Status).Valid() {
		return page, invalid("Unknown status %.64q", page.Status)
	}
	if r.GetPageToken() == "" {
		return page, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(r.GetPageToken())
	if err != nil {
		return page, invalid("Unknown page token")
	}
	at, id, _ := strings.Cut(string(text), " ")
	before, err := time.Parse(time.RFC3339Nano, at)
	if err != nil || !store.ValidID(id) {
		return page, invalid("Unknown page token")
	}
	page.Before, page.BeforeID = &before, id
	return page, nil
}

func pageToken(at time.Time, id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(at.UTC().Format(time.RFC3339Nano) + " " + id))
}

// GetReport answers with the report and the evidence of its sentences.
func (s *Service) GetReport(ctx context.Context, r *researchv1.GetReportRequest) (*researchv1.Report, error) {
	id := r.GetResearchId()
	err := known(id)
	if err != nil {
		return nil, err
	}
	report, err := s.store.Report(ctx, tenantOf(ctx), id)
	if err != nil {
		return nil, s.absent(ctx, err, id, "report")
	}
	result := new(workv1.ReportResult)
	err = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(report.Evidence, result)
	if err != nil {
		return nil, s.answer(ctx, fmt.Errorf("decode the evidence of a report: %w", err), id)
	}
	var ids []int64
	for _, c := range result.GetCitations() {
		ids = append(ids, c.GetExtractionIds()...)
	}
	extractions, err := s.store.ExtractionsByID(ctx, tenantOf(ctx), id, ids)
	if err != nil {
		return nil, s.answer(ctx, err, id)
	}
	return reportProto(id, report, result, extractions), nil
}

// GetErrorOutput answers with error-output.md.
func (s *Service) GetErrorOutput(ctx context.Context, r *researchv1.GetErrorOutputRequest) (*researchv1.ErrorOutput, error) {
	err := known(r.GetResearchId())
	if err != nil {
		return nil, err
	}
	markdown, err := s.store.ErrorOutput(ctx, tenantOf(ctx), r.GetResearchId())
	if err != nil {
		return nil, s.absent(ctx, err, r.GetResearchId(), "error output")
	}
	return &researchv1.ErrorOutput{ResearchId: r.GetResearchId(), Markdown: markdown}, nil
}

// GetSnapshot answers with a page as it was read.
func (s *Service) GetSnapshot(ctx context.Context, r *researchv1.GetSnapshotRequest) (*researchv1.Snapshot, error) {
	id := r.GetResearchId()
	err := known(id)
	if err != nil {
		return nil, err
	}
	snapshot, err := s.store.Snapshot(ctx, tenantOf(ctx), id, r.GetUrl())
	if err != nil {
		return nil, s.absent(ctx, err, id, "page of that URL that was read")
	}
	if snapshot.Zstd == nil {
		return nil, status.Error(codes.NotFound, "The page was read, but its bytes are not kept, or not any more")
	}
	return &researchv1.Snapshot{
		Url: r.GetUrl(), ContentType: snapshot.ContentType, Zstd: snapshot.Zstd, ReadAt: timestamppb.New(snapshot.ReadAt),
	}, nil
}

// absent answers when what could not be found: it tells a research that has none (yet)
// from one that is not there.
func (s *Service) absent(ctx context.Context, err error, id, what string) error {
	if !errors.Is(err, store.ErrNotFound) {
		return s.answer(ctx, err, id)
	}
	research, err := s.store.Research(ctx, tenantOf(ctx), id)
	if errors.Is(err, store.ErrNotFound) {
		return unknown(id)
	}
	if err != nil {
		return s.answer(ctx, err, id)
	}
	return status.Errorf(codes.NotFound, "The research has no %s: it is %s", what, research.Status)
}
