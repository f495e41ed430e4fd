package extract

import (
	"bytes"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"
)

// The media types that are read, without parameters.
const (
	mediaHTML     = "text/html"
	mediaXHTML    = "application/xhtml+xml"
	mediaPDF      = "application/pdf"
	mediaDOCX     = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	mediaPlain    = "text/plain"
	mediaMarkdown = "text/markdown"
	mediaJSON     = "application/json"
)

var readers = map[string]reader{
	mediaHTML: readHTML, mediaXHTML: readHTML, mediaPDF: readPDF, mediaDOCX: readDOCX,
	mediaPlain: readPlain, mediaMarkdown: readMarkdown, mediaJSON: readJSON,
}

// mediaOf is the type of a document: the one that was served when it is one that
// says something, what the bytes look like where they contradict it or where
// nothing useful was served, and Markdown for text whose address says so.
func mediaOf(doc Document) string {
	served, _, err := mime.ParseMediaType(doc.ContentType)
	if err != nil {
		served, _, _ = strings.Cut(strings.ToLower(doc.ContentType), ";")
		served = strings.TrimSpace(served)
	}
	switch served {
	case "application/x-pdf", "application/acrobat":
		served = mediaPDF
	case "text/x-markdown", "text/x-web-markdown":
		served = mediaMarkdown
	case "text/json", "application/ld+json", "application/geo+json", "application/feed+json", "application/problem+json":
		served = mediaJSON
	}
	seen := sniff(doc.Body)
	switch {
	case seen == mediaPDF || seen == mediaDOCX:
		return seen
	case served == "" || served == "application/octet-stream" || served == "binary/octet-stream" || served == "application/zip":
		served = seen
	case served == mediaPlain && seen == mediaHTML:
		served = seen
	}
	if _, ok := readers[served]; !ok && strings.HasPrefix(served, "text/") && served != "text/css" && seen == mediaPlain {
		served = mediaPlain
	}
	if served == mediaPlain && (hasExtension(doc, ".md") || hasExtension(doc, ".markdown")) {
		return mediaMarkdown
	}
	return served
}

// sniff tells a type by its first bytes.
func sniff(body []byte) string {
	head := body[:min(len(body), 1024)]
	switch {
	case bytes.Contains(head, []byte("%PDF-")):
		return mediaPDF
	case bytes.HasPrefix(body, []byte("PK\x03\x04")):
		if bytes.Contains(body, []byte("word/document.xml")) {
			return mediaDOCX
		}
		return "application/zip"
	}
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")))
	if len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') && looksLikeJSON(body) {
		return mediaJSON
	}
	seen, _, _ := strings.Cut(http.DetectContentType(head), ";")
	if seen == "application/octet-stream" && utf8.Valid(body) && !bytes.ContainsRune(body, 0) {
		return mediaPlain
	}
	return seen
}

func hasExtension(doc Document, ext string) bool {
	for _, address := range []string{doc.FinalURL, doc.URL} {
		u, err := url.Parse(address)
		if err == nil && strings.EqualFold(path.Ext(u.Path), ext) {
			return true
		}
	}
	return false
}
