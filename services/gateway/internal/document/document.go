// Package document serves reports and error outputs as documents.
package document

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"google.golang.org/protobuf/encoding/protojson"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	"github.com/fathom-research/fathom/services/gateway/internal/input"
	"github.com/fathom-research/fathom/services/gateway/internal/problem"
)

//go:embed report.html
var pageSource string

// policy lets a report load its stylesheet and nothing else: its text comes from the
// web, and a picture in it would tell a stranger that it is being read.
const policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// Handler serves what was written about a research.
type Handler struct {
	client   researchv1.ResearchServiceClient
	log      *slog.Logger
	markdown goldmark.Markdown
	page     *template.Template
}

// New makes a Handler.
func New(client researchv1.ResearchServiceClient, log *slog.Logger) (*Handler, error) {
	page, err := template.New("report").Parse(pageSource)
	if err != nil {
		return nil, fmt.Errorf("parse the report's page: %w", err)
	}
	return &Handler{
		client: client,
		log:    log,
		// goldmark leaves raw HTML and dangerous addresses out unless told otherwise.
		markdown: goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote),
			goldmark.WithParserOptions(parser.WithAutoHeadingID())),
		page: page,
	}, nil
}

// Report serves GET …/{research_id}/report in the form that Accept asks for.
func (h *Handler) Report(w http.ResponseWriter, r *http.Request) {
	id, err := plainID(r)
	if err != nil {
		problem.Write(w, r, h.log, err)
		return
	}
	report, err := h.client.GetReport(r.Context(), &researchv1.GetReportRequest{ResearchId: id})
	if err != nil {
		problem.Write(w, r, h.log, err)
		return
	}
	w.Header().Set("Vary", "Accept")
	switch choose(strings.Join(r.Header.Values("Accept"), ",")) {
	case html:
		h.html(w, r, report)
	case asJSON:
		body, err := protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true}.Marshal(report)
		if err != nil {
			problem.Write(w, r, h.log, fmt.Errorf("write the report of %s as JSON: %w", id, err))
			return
		}
		send(w, asJSON, body)
	default:
		send(w, markdown+"; charset=utf-8", []byte(report.GetMarkdown()))
	}
}

// ErrorOutput serves GET …/{research_id}/error-output.
func (h *Handler) ErrorOutput(w http.ResponseWriter, r *http.Request) {
	id, err := plainID(r)
	if err != nil {
		problem.Write(w, r, h.log, err)
		return
	}
	output, err := h.client.GetErrorOutput(r.Context(), &researchv1.GetErrorOutputRequest{ResearchId: id})
	if err != nil {
		problem.Write(w, r, h.log, err)
		return
	}
	send(w, markdown+"; charset=utf-8", []byte(output.GetMarkdown()))
}

func (h *Handler) html(w http.ResponseWriter, r *http.Request, report *researchv1.Report) {
	var body, page bytes.Buffer
	err := h.markdown.Convert([]byte(report.GetMarkdown()), &body)
	if err == nil {
		err = h.page.Execute(&page, map[string]any{
			"Title":   title(report.GetMarkdown()),
			"Partial": report.GetPartial(),
			// Safe: goldmark made it, with raw HTML left out.
			"Body": template.HTML(body.String()), //nolint:gosec // see above
		})
	}
	if err != nil {
		problem.Write(w, r, h.log, fmt.Errorf("write the report of %s as HTML: %w", report.GetResearchId(), err))
		return
	}
	w.Header().Set("Content-Security-Policy", policy)
	send(w, html+"; charset=utf-8", page.Bytes())
}

func plainID(r *http.Request) (string, error) {
	_, err := input.Query(r)
	if err != nil {
		return "", err
	}
	id := r.PathValue("research_id")
	return id, input.Text("research_id", id)
}

func send(w http.ResponseWriter, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	// The client may be gone; nobody is left to be told.
	_, _ = w.Write(body)
}

// title is the report's first heading.
func title(text string) string {
	for line := range strings.Lines(text) {
		heading, found := strings.CutPrefix(line, "# ")
		if found {
			return strings.TrimSpace(heading)
		}
	}
	return "Report"
}
