package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
)

// fakeState is a small state: it keeps researches in memory, obeys the rules that
// concern the gateway, and runs a research at once and always in the same way.
type fakeState struct {
	researchv1.UnimplementedResearchServiceServer

	mu         sync.Mutex
	researches map[string]*fakeResearch
	order      []string
	changed    chan struct{}
	watching   int
	seen       metadata.MD
	// hold keeps started researches running until finish is called.
	hold bool
	// broken makes every watcher fail.
	broken bool
	// fail is returned by the next calls of CreateQuestions, one each.
	fail []error
}

type fakeResearch struct {
	record *researchv1.Research
	events []*researchv1.Event
	key    string
}

func newFakeState() *fakeState {
	return &fakeState{researches: make(map[string]*fakeResearch), changed: make(chan struct{})}
}

func invalid(message string) error { return status.Error(codes.InvalidArgument, message) }

func (f *fakeState) CreateQuestions(ctx context.Context, r *researchv1.CreateQuestionsRequest) (*researchv1.CreateQuestionsResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen, _ = metadata.FromIncomingContext(ctx)
	if len(f.fail) > 0 {
		err := f.fail[0]
		f.fail = f.fail[1:]
		return nil, err
	}
	switch {
	case strings.TrimSpace(r.GetInitialPrompt()) == "":
		return nil, invalid("Initial prompt cannot be empty")
	case r.GetNumQuestions() <= 0:
		return nil, invalid("Number of questions must be a positive integer")
	case r.GetNumQuestions() > 20:
		return nil, invalid("Number of questions must be at most 20")
	}
	for id, known := range f.researches {
		if r.GetIdempotencyKey() == "" || known.key != r.GetIdempotencyKey() {
			continue
		}
		if known.record.GetInitialPrompt() != r.GetInitialPrompt() {
			return nil, mismatch()
		}
		return &researchv1.CreateQuestionsResponse{ResearchId: id, FollowupQuestions: known.record.GetFollowupQuestions()}, nil
	}
	id := fmt.Sprintf("research-%d", len(f.order)+1)
	record := &researchv1.Research{ResearchId: id, Status: "ready", InitialPrompt: r.GetInitialPrompt(), CreatedAt: timestamppb.Now()}
	for i := range r.GetNumQuestions() {
		record.FollowupQuestions = append(record.FollowupQuestions, fmt.Sprintf("What of %d?", i+1))
	}
	f.researches[id] = &fakeResearch{record: record, key: r.GetIdempotencyKey()}
	f.order = append(f.order, id)
	f.emit(id, &researchv1.Event{Type: "research.ready"})
	return &researchv1.CreateQuestionsResponse{ResearchId: id, FollowupQuestions: record.GetFollowupQuestions()}, nil
}

func mismatch() error {
	s, err := status.New(codes.InvalidArgument, "Idempotency-Key was used for another request").
		WithDetails(&errdetails.ErrorInfo{Reason: "IDEMPOTENCY_MISMATCH"})
	if err != nil {
		return err
	}
	return s.Err()
}

func (f *fakeState) StartResearch(_ context.Context, r *researchv1.StartResearchRequest) (*researchv1.StartResearchResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.researches[r.GetResearchId()]
	switch {
	case known == nil:
		return nil, invalid("research_id is unknown")
	case r.GetDepth() <= 0:
		return nil, invalid("Depth must be a positive integer")
	case r.GetBreadth() <= 0:
		return nil, invalid("Breadth must be a positive integer")
	case len(r.GetFollowupAnswers()) != len(known.record.GetFollowupQuestions()):
		return nil, invalid("Number of answers must match number of questions")
	case r.GetInitialPrompt() != "" && r.GetInitialPrompt() != known.record.GetInitialPrompt():
		return nil, invalid("Initial prompt differs from the stored one")
	case known.record.GetStatus() != "ready":
		return nil, status.Error(codes.AlreadyExists, "the research was started with other values")
	}
	known.record.Status = "running"
	known.record.Depth, known.record.Breadth = r.GetDepth(), r.GetBreadth()
	known.record.FollowupAnswers = r.GetFollowupAnswers()
	f.emit(r.GetResearchId(), &researchv1.Event{Type: "research.running"})
	f.emit(r.GetResearchId(), &researchv1.Event{Type: "query.planned", QueryId: "q1", QueryText: "first\nquery", Depth: 1})
	if !f.hold {
		f.finishLocked(r.GetResearchId())
	}
	return &researchv1.StartResearchResponse{ResearchId: r.GetResearchId(), Status: "running", PlannedQueries: r.GetBreadth()}, nil
}

const fakeReport = "# Findings\n\nWater is wet [1].\n\n<script>alert(1)</script> [bad](javascript:alert(2)) ![pixel](https://example.org/p.png)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## Sources\n\n1. <https://example.org/water>\n"

func (f *fakeState) finish(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.finishLocked(id)
}

func (f *fakeState) finishLocked(id string) {
	record := f.researches[id].record
	record.Status = "completed"
	record.Report = wrapperspb.String(fakeReport)
	record.SerpQueries = []*researchv1.SerpQuery{{QueryId: "q1", Text: "first query", Objective: "to know", Depth: 1, Status: "completed"}}
	record.SuccessfulScrapedWebsites = []*researchv1.Website{
		{Url: "https://example.org/water", Status: "analyzed", QueryId: "q1", Content: wrapperspb.String("Water is wet.")},
		{Url: "https://example.org/gone", Status: "failed", QueryId: "q1", ErrorMessage: "404"},
	}
	f.emit(id, &researchv1.Event{Type: "website.analyzed", QueryId: "q1", Url: "https://example.org/water", Count: 1})
	f.emit(id, &researchv1.Event{Type: "report.written"})
	f.emit(id, &researchv1.Event{Type: "research.completed"})
}

// emit stores an event and wakes the watchers. The caller holds mu.
func (f *fakeState) emit(id string, event *researchv1.Event) {
	known := f.researches[id]
	event.ResearchId = id
	event.Sequence = int32(len(known.events)) + 1
	event.At = timestamppb.Now()
	known.events = append(known.events, event)
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *fakeState) emitNow(id, kind string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.emit(id, &researchv1.Event{Type: kind})
}

func (f *fakeState) breakWatchers() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = true
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *fakeState) watchers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.watching
}

var errUnknown = status.Error(codes.NotFound, "there is no such research")

// find also answers ids of the form "fail-CODE" with that code, to try each mapping.
func (f *fakeState) find(id string) (*researchv1.Research, error) {
	var code codes.Code
	name, isFail := strings.CutPrefix(id, "fail-")
	if isFail && code.UnmarshalJSON([]byte(`"`+name+`"`)) == nil {
		return nil, status.Error(code, "as asked")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.researches[id]
	if known == nil {
		return nil, errUnknown
	}
	return known.record, nil
}

func (f *fakeState) GetResearch(_ context.Context, r *researchv1.GetResearchRequest) (*researchv1.Research, error) {
	return f.find(r.GetResearchId())
}

func (f *fakeState) ListResearches(_ context.Context, r *researchv1.ListResearchesRequest) (*researchv1.ListResearchesResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	response := &researchv1.ListResearchesResponse{}
	for _, id := range f.order {
		record := f.researches[id].record
		if r.GetStatus() == "" || r.GetStatus() == record.GetStatus() {
			response.Researches = append(response.Researches, &researchv1.ResearchSummary{
				ResearchId: id, Status: record.GetStatus(), InitialPrompt: record.GetInitialPrompt(),
				Depth: record.GetDepth(), Breadth: record.GetBreadth(), CreatedAt: record.GetCreatedAt(),
			})
		}
	}
	return response, nil
}

func (f *fakeState) GetReport(_ context.Context, r *researchv1.GetReportRequest) (*researchv1.Report, error) {
	record, err := f.find(r.GetResearchId())
	if err != nil {
		return nil, err
	}
	if record.GetReport() == nil {
		return nil, status.Error(codes.NotFound, "the report is not written yet")
	}
	return &researchv1.Report{
		ResearchId: r.GetResearchId(), Markdown: record.GetReport().GetValue(),
		Citations: []*researchv1.ReportCitation{{Number: 1, Url: "https://example.org/water"}},
	}, nil
}

func (f *fakeState) GetSnapshot(_ context.Context, r *researchv1.GetSnapshotRequest) (*researchv1.Snapshot, error) {
	_, err := f.find(r.GetResearchId())
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(r.GetUrl(), "https://example.org/water") {
		return nil, status.Error(codes.NotFound, "no such page")
	}
	packed, err := zstd.NewWriter(nil)
	if err != nil {
		return nil, err
	}
	return &researchv1.Snapshot{
		Url: r.GetUrl(), ContentType: "text/html", ReadAt: timestamppb.New(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)),
		Zstd: packed.EncodeAll([]byte("<script>alert(1)</script>"), nil),
	}, nil
}

func (f *fakeState) GetErrorOutput(_ context.Context, r *researchv1.GetErrorOutputRequest) (*researchv1.ErrorOutput, error) {
	_, err := f.find(r.GetResearchId())
	if err != nil {
		return nil, err
	}
	return &researchv1.ErrorOutput{ResearchId: r.GetResearchId(), Markdown: "# Error output\n"}, nil
}

func (f *fakeState) WatchResearch(r *researchv1.WatchResearchRequest, out researchv1.ResearchService_WatchResearchServer) error {
	_, err := f.find(r.GetResearchId())
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.watching++
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.watching--
		f.mu.Unlock()
	}()
	next := int(r.GetAfterSequence())
	for {
		f.mu.Lock()
		known := f.researches[r.GetResearchId()]
		events, changed := known.events[min(next, len(known.events)):], f.changed
		broken := f.broken
		ended := known.record.GetStatus() == "completed" || known.record.GetStatus() == "cancelled"
		f.mu.Unlock()
		if broken {
			return status.Error(codes.Internal, "as asked")
		}
		for _, event := range events {
			err := out.Send(event)
			if err != nil {
				return err
			}
			next++
		}
		if ended {
			return nil
		}
		select {
		case <-changed:
		case <-out.Context().Done():
			return out.Context().Err()
		}
	}
}

func (f *fakeState) set(id, name string) (*researchv1.ResearchState, error) {
	record, err := f.find(id)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if record.GetStatus() == "completed" {
		return nil, status.Error(codes.FailedPrecondition, "the research has ended")
	}
	record.Status = name
	f.emit(id, &researchv1.Event{Type: "research." + name})
	return &researchv1.ResearchState{ResearchId: id, Status: name}, nil
}

func (f *fakeState) CancelResearch(_ context.Context, r *researchv1.CancelResearchRequest) (*researchv1.ResearchState, error) {
	return f.set(r.GetResearchId(), "cancelled")
}

func (f *fakeState) PauseResearch(_ context.Context, r *researchv1.PauseResearchRequest) (*researchv1.ResearchState, error) {
	return f.set(r.GetResearchId(), "paused")
}

func (f *fakeState) ResumeResearch(_ context.Context, r *researchv1.ResumeResearchRequest) (*researchv1.ResearchState, error) {
	return f.set(r.GetResearchId(), "running")
}

func (f *fakeState) DeleteResearch(_ context.Context, r *researchv1.DeleteResearchRequest) (*researchv1.DeleteResearchResponse, error) {
	_, err := f.find(r.GetResearchId())
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.researches, r.GetResearchId())
	for i, id := range f.order {
		if id == r.GetResearchId() {
			f.order = append(f.order[:i], f.order[i+1:]...)
			break
		}
	}
	return &researchv1.DeleteResearchResponse{}, nil
}
