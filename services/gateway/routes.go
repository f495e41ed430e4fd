package gateway

import (
	"context"
	"net/http"

	"google.golang.org/protobuf/reflect/protoreflect"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	"github.com/fathom-research/fathom/services/gateway/internal/backend"
	"github.com/fathom-research/fathom/services/gateway/internal/document"
	"github.com/fathom-research/fathom/services/gateway/internal/edge"
	"github.com/fathom-research/fathom/services/gateway/internal/gen"
	"github.com/fathom-research/fathom/services/gateway/internal/openapi"
	"github.com/fathom-research/fathom/services/gateway/internal/stream"
	"github.com/fathom-research/fathom/services/gateway/internal/web"
)

// routes is the one table of what is served.
func (s *Service) routes(state *backend.Conn) (http.Handler, error) {
	rest, err := s.newREST(context.Background(), state)
	if err != nil {
		return nil, err
	}
	client := researchv1.NewResearchServiceClient(state)
	documents, err := document.New(client, s.log)
	if err != nil {
		return nil, err
	}
	description, err := openapi.Document(gen.OpenAPI)
	if err != nil {
		return nil, err
	}
	events := &stream.Handler{Client: client, Log: s.log, Heartbeat: s.cfg.Heartbeat, Closing: s.closing}

	mux := http.NewServeMux()
	post := func(path string, message protoreflect.ProtoMessage) {
		mux.Handle("POST "+path, s.write(rest, message.ProtoReflect().Descriptor()))
	}
	post("/api/research/questions", &researchv1.CreateQuestionsRequest{})
	post("/api/research/start", &researchv1.StartResearchRequest{})
	post("/api/research/{research_id}/cancel", &researchv1.CancelResearchRequest{})
	post("/api/research/{research_id}/pause", &researchv1.PauseResearchRequest{})
	post("/api/research/{research_id}/resume", &researchv1.ResumeResearchRequest{})
	mux.Handle("GET /api/research", s.read(rest, "page_size", "page_token", "status"))
	mux.Handle("GET /api/research/{research_id}", s.read(rest, "view"))
	mux.Handle("DELETE /api/research/{research_id}", s.read(rest))
	mux.HandleFunc("GET /api/research/{research_id}/report", documents.Report)
	mux.HandleFunc("GET /api/research/{research_id}/error-output", documents.ErrorOutput)
	mux.HandleFunc("GET /api/research/{research_id}/snapshot", documents.Snapshot)
	mux.Handle("GET /api/research/{research_id}/events", events)
	mux.HandleFunc("GET /openapi.json", openapi.Handler(description))
	s.health.Register(mux)
	err = web.Register(mux)
	if err != nil {
		return nil, err
	}
	return edge.Routes(mux, s.log), nil
}
