package service

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	"github.com/fathom-research/fathom/services/state/internal/store"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// reread is how often a wait looks at the database by itself: another replica may
// have applied the result, and its announcement may be lost.
const reread = time.Second

// headroom is taken off a caller's deadline, so that the answer which names the
// research still reaches it.
const headroom = 250 * time.Millisecond

// CreateQuestions stores a research and waits for its follow-up questions.
func (s *Service) CreateQuestions(ctx context.Context, r *researchv1.CreateQuestionsRequest) (*researchv1.CreateQuestionsResponse, error) {
	err := checkCreate(r)
	if err != nil {
		return nil, err
	}
	body := proto.CloneOf(r)
	body.IdempotencyKey = ""
	key, err := claim("create", r.GetIdempotencyKey(), body)
	if err != nil {
		return nil, s.answer(ctx, err, "")
	}
	research := store.NewResearch{
		ID: store.NewID(), Tenant: tenantOf(ctx), Prompt: r.GetInitialPrompt(), NumQuestions: int(r.GetNumQuestions()),
	}
	// All that is ever done for the research is below this span.
	ctx, span := s.tracer.Start(ctx, "research", trace.WithAttributes(attribute.String("fathom.research_id", research.ID)))
	defer span.End()
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	research.Traceparent = carrier["traceparent"]

	id, err := s.engine.Create(ctx, research, key)
	if err != nil {
		return nil, s.answer(ctx, err, "")
	}
	questions, err := s.awaitQuestions(ctx, research.Tenant, id)
	if err != nil {
		return nil, s.answer(ctx, err, id)
	}
	return &researchv1.CreateQuestionsResponse{ResearchId: id, FollowupQuestions: questions}, nil
}

func (s *Service) awaitQuestions(ctx context.Context, tenant, id string) ([]string, error) {
	patience := s.settings.QuestionsWait
	deadline, ok := ctx.Deadline()
	if ok {
		patience = min(patience, time.Until(deadline)-headroom)
	}
	enough := time.NewTimer(patience)
	defer enough.Stop()
	tick := time.NewTicker(reread)
	defer tick.Stop()
	listening, stop := context.WithCancel(ctx)
	defer stop()
	news := s.listen(listening, id)
	for {
		questions, err := s.questions(ctx, tenant, id)
		if err != nil || questions != nil {
			return questions, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-enough.C:
			return nil, detailed(codes.DeadlineExceeded, reasonNotInTime,
				"The follow-up questions are not there yet; they can be fetched later", map[string]string{"research_id": id})
		case <-s.draining:
			return nil, stopping()
		case <-news:
		case <-tick.C:
		}
	}
}

// listen returns a channel that receives when the research has news, or one that
// never does when the bus is away.
func (s *Service) listen(ctx context.Context, id string) <-chan struct{} {
	news, err := s.bus.Listen(ctx, id)
	if err != nil {
		s.logger.WarnContext(ctx, "waiting without announcements", "research_id", id, "error", err)
		return nil
	}
	return news
}

// questions reads the questions, nil as long as there are none.
func (s *Service) questions(ctx context.Context, tenant, id string) ([]string, error) {
	research, err := s.store.Research(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	if research.Phase() == workflow.Asking {
		return nil, nil
	}
	dialogue, err := s.store.Dialogue(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	if len(dialogue.Questions) == 0 {
		return nil, detailed(codes.Unavailable, reasonNoQuestions, "The follow-up questions could not be made: "+research.ErrorMessage,
			map[string]string{"research_id": id, "code": research.Reason})
	}
	return dialogue.Questions, nil
}
