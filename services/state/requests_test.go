package state_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/fathom-research/fathom/platform/bus"
	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
)

// reason is what programs read of an error.
func reason(err error) *errdetails.ErrorInfo {
	for _, detail := range status.Convert(err).Details() {
		info, ok := detail.(*errdetails.ErrorInfo)
		if ok {
			return info
		}
	}
	return nil
}

func TestBadRequestsAreRefusedWithTheirRule(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.workers(t, nil)
	for want, request := range map[string]*researchv1.CreateQuestionsRequest{
		"Initial prompt cannot be empty":                 {NumQuestions: 3, InitialPrompt: " \n"},
		"Number of questions must be a positive integer": {InitialPrompt: "p"},
		"Number of questions must be at most 20":         {InitialPrompt: "p", NumQuestions: 21},
		"Initial prompt must be at most 32768 bytes":     {InitialPrompt: strings.Repeat("p", 32769), NumQuestions: 1},
		"Initial prompt must not contain NUL characters": {InitialPrompt: "a\x00b", NumQuestions: 1},
		"Idempotency-Key must be at most 255 bytes":      {InitialPrompt: "p", NumQuestions: 1, IdempotencyKey: strings.Repeat("k", 256)},
	} {
		_, err := s.client.CreateQuestions(t.Context(), request, grpc.WaitForReady(true))
		require.Equal(t, codes.InvalidArgument, status.Code(err), want)
		require.Equal(t, want, status.Convert(err).Message())
	}
	list, err := s.client.ListResearches(t.Context(), new(researchv1.ListResearchesRequest))
	require.NoError(t, err)
	require.Empty(t, list.GetResearches(), "a refused request stores nothing")

	id := s.ask(t, 2)
	good := func(change func(r *researchv1.StartResearchRequest)) *researchv1.StartResearchRequest {
		r := &researchv1.StartResearchRequest{ResearchId: id, FollowupAnswers: []string{"", ""}, Depth: 1, Breadth: 1}
		change(r)
		return r
	}
	for want, change := range map[string]func(r *researchv1.StartResearchRequest){
		"Depth must be a positive integer":                                             func(r *researchv1.StartResearchRequest) { r.Depth = 0 },
		"Breadth must be a positive integer":                                           func(r *researchv1.StartResearchRequest) { r.Breadth = -1 },
		"Number of answers must match number of questions":                             func(r *researchv1.StartResearchRequest) { r.FollowupAnswers = []string{"one"} },
		"Depth 10 and breadth 100 make 422630100 queries, more than the limit of 1000": func(r *researchv1.StartResearchRequest) { r.Depth, r.Breadth = 10, 100 },
		`Unknown research_id "nobody"`:                                                 func(r *researchv1.StartResearchRequest) { r.ResearchId = "nobody" },
		"Research id cannot be empty":                                                  func(r *researchv1.StartResearchRequest) { r.ResearchId = "" },
		"Initial prompt must equal the one that the research was created with":         func(r *researchv1.StartResearchRequest) { r.InitialPrompt = "Else?" },
		"Follow-up questions must equal the ones that were asked":                      func(r *researchv1.StartResearchRequest) { r.FollowupQuestions = []string{"a", "b"} },
		"Answer 2 must not contain NUL characters":                                     func(r *researchv1.StartResearchRequest) { r.FollowupAnswers[1] = "\x00" },
		"Search time range must be day, week, month or year":                           func(r *researchv1.StartResearchRequest) { r.Search = &researchv1.SearchOptions{TimeRange: "decade"} },
		"Budget must not be negative":                                                  func(r *researchv1.StartResearchRequest) { r.Budget = &researchv1.Budget{Pages: -1} },
	} {
		_, err := s.client.StartResearch(t.Context(), good(change))
		require.Equal(t, codes.InvalidArgument, status.Code(err), want)
		require.Equal(t, want, status.Convert(err).Message())
	}
	require.Equal(t, "ready", s.get(t, id).GetStatus())
}

func TestStartIsAnsweredTheSameAgain(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.workers(t, nil)
	id := s.ask(t, 1)
	request := &researchv1.StartResearchRequest{ResearchId: id, FollowupAnswers: []string{"x"}, Depth: 3, Breadth: 4, IdempotencyKey: "k"}
	first, err := s.client.StartResearch(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, int32(20), first.GetPlannedQueries())
	require.Equal(t, int32(154), first.GetEstimate().GetModelCalls())
	again, err := s.client.StartResearch(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, first.String(), again.String())

	other := &researchv1.StartResearchRequest{ResearchId: id, FollowupAnswers: []string{"x"}, Depth: 2, Breadth: 4}
	_, err = s.client.StartResearch(t.Context(), other)
	require.Equal(t, codes.FailedPrecondition, status.Code(err))
	require.Equal(t, "CONFLICT", reason(err).GetReason())
	other.IdempotencyKey = "k"
	_, err = s.client.StartResearch(t.Context(), other)
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	require.Equal(t, "IDEMPOTENCY_MISMATCH", reason(err).GetReason())
}

func TestQuestionsThatTakeTooLongCanBeFetchedLater(t *testing.T) {
	t.Parallel()
	s := start(t, map[string]string{"FATHOM_QUESTIONS_WAIT": "50ms"})
	request := &researchv1.CreateQuestionsRequest{InitialPrompt: "Why?", NumQuestions: 2, IdempotencyKey: "once"}
	_, err := s.client.CreateQuestions(t.Context(), request, grpc.WaitForReady(true))
	require.Equal(t, codes.DeadlineExceeded, status.Code(err))
	id := reason(err).GetMetadata()["research_id"]
	require.Equal(t, "asking", s.get(t, id).GetStatus())

	_, err = s.client.StartResearch(t.Context(), &researchv1.StartResearchRequest{ResearchId: id, FollowupAnswers: []string{"", ""}, Depth: 1, Breadth: 1})
	require.Equal(t, codes.FailedPrecondition, status.Code(err), "no questions yet")
	s.workers(t, nil)
	require.Eventually(t, func() bool { return s.get(t, id).GetStatus() == "ready" }, 20*time.Second, 20*time.Millisecond)
	require.Len(t, s.get(t, id).GetFollowupQuestions(), 2)
	again, err := s.client.CreateQuestions(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, id, again.GetResearchId())
}

func TestUnknownResearchIsNotFound(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.workers(t, nil)
	id := s.ask(t, 1)
	foreign := metadata.AppendToOutgoingContext(t.Context(), "fathom-tenant", "other")
	for name, call := range map[string]func(ctx context.Context, id string) error{
		"get": func(ctx context.Context, id string) error {
			_, err := s.client.GetResearch(ctx, &researchv1.GetResearchRequest{ResearchId: id})
			return err
		},
		"report": func(ctx context.Context, id string) error {
			_, err := s.client.GetReport(ctx, &researchv1.GetReportRequest{ResearchId: id})
			return err
		},
		"error output": func(ctx context.Context, id string) error {
			_, err := s.client.GetErrorOutput(ctx, &researchv1.GetErrorOutputRequest{ResearchId: id})
			return err
		},
		"watch": func(ctx context.Context, id string) error {
			stream, err := s.client.WatchResearch(ctx, &researchv1.WatchResearchRequest{ResearchId: id})
			if err != nil {
				return err
			}
			_, err = stream.Recv()
			return err
		},
		"cancel": func(ctx context.Context, id string) error {
			_, err := s.client.CancelResearch(ctx, &researchv1.CancelResearchRequest{ResearchId: id})
			return err
		},
		"delete": func(ctx context.Context, id string) error {
			_, err := s.client.DeleteResearch(ctx, &researchv1.DeleteResearchRequest{ResearchId: id})
			return err
		},
	} {
		require.Equal(t, codes.NotFound, status.Code(call(t.Context(), "nobody")), name)
		require.Equal(t, codes.NotFound, status.Code(call(t.Context(), "01234567-89ab-cdef-0123-456789abcdef")), name)
		require.Equal(t, codes.NotFound, status.Code(call(foreign, id)), name)
	}
	require.Equal(t, "ready", s.get(t, id).GetStatus())
}

func TestListGoesPageByPage(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.workers(t, nil)
	var made []string
	for range 5 {
		made = append([]string{s.ask(t, 1)}, made...)
	}
	var listed []string
	request := &researchv1.ListResearchesRequest{PageSize: 2}
	for {
		page, err := s.client.ListResearches(t.Context(), request)
		require.NoError(t, err)
		for _, r := range page.GetResearches() {
			listed = append(listed, r.GetResearchId())
		}
		if page.GetNextPageToken() == "" {
			break
		}
		request.PageToken = page.GetNextPageToken()
	}
	require.Equal(t, made, listed)
	for _, bad := range []*researchv1.ListResearchesRequest{{PageSize: -1}, {PageSize: 1001}, {PageToken: "?"}, {Status: "odd"}} {
		_, err := s.client.ListResearches(t.Context(), bad)
		require.Equal(t, codes.InvalidArgument, status.Code(err))
	}
}

func TestValidateOnlyStartsNothing(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.workers(t, nil)
	id := s.ask(t, 1)
	request := &researchv1.StartResearchRequest{ResearchId: id, FollowupAnswers: []string{"x"}, Depth: 2, Breadth: 3, IdempotencyKey: "k", ValidateOnly: true}
	planned, err := s.client.StartResearch(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, "ready", planned.GetStatus())
	record := s.get(t, id)
	require.Equal(t, "ready", record.GetStatus())
	require.Zero(t, record.GetDepth())
	require.Empty(t, record.GetFollowupAnswers())

	request.FollowupAnswers = nil
	_, err = s.client.StartResearch(t.Context(), request)
	require.Equal(t, "Number of answers must match number of questions", status.Convert(err).Message())

	request.FollowupAnswers, request.Depth, request.ValidateOnly = []string{"y"}, 1, false
	started, err := s.client.StartResearch(t.Context(), request)
	require.NoError(t, err, "neither the values nor the key of the question bind the start")
	require.Equal(t, "running", started.GetStatus())
	require.EqualValues(t, 3, started.GetPlannedQueries())

	request.ValidateOnly = true
	_, err = s.client.StartResearch(t.Context(), request)
	require.Equal(t, codes.FailedPrecondition, status.Code(err), "what was started can't be started")
}

func TestEstimateKeepsToTheBudget(t *testing.T) {
	t.Parallel()
	s := start(t, map[string]string{"FATHOM_PRICE_INPUT": "1", "FATHOM_PRICE_OUTPUT": "5"})
	s.workers(t, nil)
	estimate := func(budget *researchv1.Budget) *researchv1.Estimate {
		started, err := s.client.StartResearch(t.Context(), &researchv1.StartResearchRequest{
			ResearchId: s.ask(t, 1), FollowupAnswers: []string{""}, Depth: 3, Breadth: 4, Budget: budget,
		})
		require.NoError(t, err)
		return started.GetEstimate()
	}
	whole := estimate(nil)
	require.EqualValues(t, 20, whole.GetQueries())
	require.EqualValues(t, 140, whole.GetPages())
	require.EqualValues(t, 13+140+1, whole.GetModelCalls())
	require.InDelta(t, 13*3600+140*6800+44000, whole.GetModelTokens(), 0.5)
	require.InDelta(t, (13*3000+140*6000+40000+5*(13*600+140*800+4000))/1e6, whole.GetCostUsd(), 1e-9)
	counted := estimate(&researchv1.Budget{Queries: 5, Pages: 10})
	require.EqualValues(t, 5, counted.GetQueries())
	require.EqualValues(t, 10, counted.GetPages())
	require.EqualValues(t, 6+35+1, counted.GetModelCalls())
	paid := estimate(&researchv1.Budget{ModelTokens: 200000, CostUsd: 0.9})
	require.InDelta(t, 200000, paid.GetModelTokens(), 0.5)
	require.InDelta(t, 0.9, paid.GetCostUsd(), 1e-9)
}

func TestUsedUpTenantIsToldSo(t *testing.T) {
	t.Parallel()
	s := start(t, map[string]string{"FATHOM_TENANT_TOKENS": "200000"})
	s.serveAllBut(t, bus.Report)
	first, second := s.ask(t, 1), s.ask(t, 1)
	_, err := s.client.StartResearch(t.Context(), &researchv1.StartResearchRequest{
		ResearchId: first, FollowupAnswers: []string{""}, Depth: 1, Breadth: 1,
	})
	require.NoError(t, err)
	refused := &researchv1.StartResearchRequest{ResearchId: second, FollowupAnswers: []string{""}, Depth: 1, Breadth: 1}
	_, err = s.client.StartResearch(t.Context(), refused)
	require.Equal(t, codes.ResourceExhausted, status.Code(err))
	require.Equal(t, "The tenant's budget of model tokens has no room for a plan and a report", status.Convert(err).Message())
	require.Equal(t, "tenant_tokens", reason(err).GetMetadata()["budget"])
	other := metadata.AppendToOutgoingContext(t.Context(), "fathom-tenant", "another")
	_, err = s.client.CreateQuestions(other, &researchv1.CreateQuestionsRequest{InitialPrompt: "Why?", NumQuestions: 1})
	require.NoError(t, err)
}
