package corpus

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed pages.tmpl
var pagesTemplate string

var pages = template.Must(template.New("pages").Parse(pagesTemplate))

type pageLink struct {
	URL, Title, Snippet string
}

// Handler serves the folder: a list of contents at /, the files under /doc/, and
// SearXNG's /search.
func (c *Corpus) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", c.contents)
	mux.HandleFunc("GET /search", c.search)
	mux.HandleFunc("POST /search", c.search)
	mux.HandleFunc("GET /doc/{path...}", c.file)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "OK") })
	return mux
}

// Serve answers on listener until ctx ends.
func (c *Corpus) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{Handler: c.Handler(), ReadHeaderTimeout: 10 * time.Second}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if server.Shutdown(closing) != nil {
			_ = server.Close()
		}
	}()
	err := server.Serve(listener)
	if errors.Is(err, http.ErrServerClosed) {
		<-stopped
		return nil
	}
	return fmt.Errorf("serve the corpus on %s: %w", listener.Addr(), err)
}

func (c *Corpus) contents(w http.ResponseWriter, _ *http.Request) {
	links := make([]pageLink, 0, len(c.documents))
	for _, document := range c.documents {
		links = append(links, pageLink{URL: documentPath(document.Path), Title: document.Title})
	}
	render(w, "contents", map[string]any{"Links": links, "Query": ""})
}

func (c *Corpus) searchPage(w http.ResponseWriter, r *http.Request, query string) {
	answer := c.answer(base(r), query, pageNumber(r))
	links := make([]pageLink, 0, len(answer.Results))
	for _, result := range answer.Results {
		links = append(links, pageLink{URL: result.URL, Title: result.Title, Snippet: result.Content})
	}
	render(w, "contents", map[string]any{"Links": links, "Query": query, "Hits": answer.NumberOfResults})
}

func render(w http.ResponseWriter, name string, data any) {
	var page bytes.Buffer
	err := pages.ExecuteTemplate(&page, name, data)
	if err != nil {
		http.Error(w, "page can't be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(page.Bytes())
}

// file serves any file of the folder, so that pages find their images, styles and
// scripts. It does not list folders, and hides what Load skips.
func (c *Corpus) file(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("path")
	if !fs.ValidPath(name) || concealed(name) {
		http.NotFound(w, r)
		return
	}
	info, err := fs.Stat(c.files, name)
	if err != nil || !info.Mode().IsRegular() {
		http.NotFound(w, r)
		return
	}
	if kind := contentType(name); kind != "" {
		w.Header().Set("Content-Type", kind)
	}
	body, err := fs.ReadFile(c.files, name)
	if err != nil {
		http.Error(w, "file can't be read", http.StatusInternalServerError)
		return
	}
	http.ServeContent(w, r, path.Base(name), info.ModTime(), bytes.NewReader(body))
}

func concealed(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") {
			return true
		}
	}
	return false
}

// contentType names the types that the system's table may lack; for HTML it leaves
// the charset to the page, which may not be UTF-8.
func contentType(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".html", ".htm":
		return "text/html"
	case ".md", ".markdown":
		return "text/markdown; charset=utf-8"
	case ".txt", ".text":
		return "text/plain; charset=utf-8"
	case ".pdf":
		return "application/pdf"
	default:
		return ""
	}
}
