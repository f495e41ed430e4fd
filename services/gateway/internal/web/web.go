// Package web is the page at /: ask, answer, start, watch, read. Everything that it
// loads is embedded.
package web

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
)

//go:embed assets
var files embed.FS

// policy allows the page's own files, calls to the gateway, and its report in a frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Register adds the page and its files to mux.
func Register(mux *http.ServeMux) error {
	assets, err := fs.Sub(files, "assets")
	if err != nil {
		return fmt.Errorf("open the page's files: %w", err)
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeFileFS(w, r, assets, "page.html")
	})
	for _, name := range []string{"page.css", "page.js", "report.css", "icon.svg"} {
		mux.HandleFunc("GET /assets/"+name, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-cache")
			http.ServeFileFS(w, r, assets, name)
		})
	}
	return nil
}
