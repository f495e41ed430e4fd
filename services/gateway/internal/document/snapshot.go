package document

import (
	"fmt"
	"net/http"

	"github.com/klauspost/compress/zstd"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	"github.com/fathom-research/fathom/services/gateway/internal/input"
	"github.com/fathom-research/fathom/services/gateway/internal/problem"
)

// mostUnpacked bounds a snapshot in bytes: no scraper keeps more of a page.
const mostUnpacked = 64 << 20

// sandbox keeps a page that a stranger wrote from doing anything in the gateway's name.
const sandbox = "sandbox; default-src 'none'; frame-ancestors 'none'"

// Snapshot serves GET …/{research_id}/snapshot?url=…: a page as it was when the research
// read it, to be saved and not shown.
func (h *Handler) Snapshot(w http.ResponseWriter, r *http.Request) {
	snapshot, err := h.snapshot(r)
	if err != nil {
		problem.Write(w, r, h.log, err)
		return
	}
	body, err := unpack(snapshot.GetZstd())
	if err != nil {
		problem.Write(w, r, h.log, fmt.Errorf("unpack the snapshot of %q: %w", snapshot.GetUrl(), err))
		return
	}
	w.Header().Set("Content-Security-Policy", sandbox)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Disposition", "attachment; filename=snapshot")
	w.Header().Set("Last-Modified", snapshot.GetReadAt().AsTime().UTC().Format(http.TimeFormat))
	contentType := snapshot.GetContentType()
	if contentType == "" {
		contentType = "application/octet-stream"
	}
	send(w, contentType, body)
}

func (h *Handler) snapshot(r *http.Request) (*researchv1.Snapshot, error) {
	values, err := input.Query(r, "url")
	if err != nil {
		return nil, err
	}
	id := r.PathValue("research_id")
	err = input.Text("research_id", id)
	if err != nil {
		return nil, err
	}
	if values.Get("url") == "" {
		return nil, problem.Invalid("url", "url cannot be empty: it is that of a page of the research")
	}
	return h.client.GetSnapshot(r.Context(), &researchv1.GetSnapshotRequest{ResearchId: id, Url: values.Get("url")})
}

func unpack(packed []byte) ([]byte, error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(mostUnpacked), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	return decoder.DecodeAll(packed, nil)
}
