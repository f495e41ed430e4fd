package corpus

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// testPDF is a PDF of one page with the given line on it.
func testPDF(title, line string) []byte {
	var out bytes.Buffer
	stream := "BT /F1 12 Tf 72 720 Td (" + line + ") Tj ET"
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(stream), stream),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
		"<< /Title (" + title + ") >>",
	}
	out.WriteString("%PDF-1.4\n")
	var offsets []int
	for i, object := range objects {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R /Info 6 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return out.Bytes()
}

func testFolder() fstest.MapFS {
	return fstest.MapFS{
		"harbour.html": {Data: []byte(`<html><head><title>Harbour dues &amp; tides</title><meta property="article:published_time" content="2024-03-01T10:00:00Z">
			<script>var unseen = "zirconium"</script></head><body><nav>zirconium</nav><h1>Dues</h1><p>Ships pay by tonnage at the quay.</p></body></html>`)},
		"deep/er/lamp house.md": {Data: []byte("---\ntitle: The lamp house\ndate: 2023-01-02\n---\n# Lamp\n\nThe [keeper](x.html) trims the **wick** at dusk.\n")},
		"notes.txt":             {Data: []byte("Notes on rope\n\nManila rope loses strength when it is wet.\nDate: 2022-05-06\n")},
		"log.pdf":               {Data: testPDF("Log of the Heron", "Sighted a barquentine off the shoal.")},
		"broken.pdf":            {Data: []byte("%PDF-1.4\nnothing here")},
		"latin.html":            {Data: []byte("<meta charset=iso-8859-1><title>Caf\xe9</title><p>Cr\xe8me for the crew.")},
		"style.css":             {Data: []byte("body{}")},
		".secret/key.txt":       {Data: []byte("tonnage of secrets")},
		".hidden.html":          {Data: []byte("tonnage of secrets")},
	}
}

func serve(t *testing.T) string {
	t.Helper()
	c, err := Load(t.Context(), testFolder(), quiet())
	require.NoError(t, err)
	server := httptest.NewServer(c.Handler())
	t.Cleanup(server.Close)
	return server.URL
}

func get(t *testing.T, address string) (int, http.Header, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, response.Header, string(body)
}

func find(t *testing.T, site, query string) searchAnswer {
	t.Helper()
	status, _, body := get(t, site+"/search?format=json&time_range=year&language=en&categories=general&safesearch=1&q="+url.QueryEscape(query))
	require.Equal(t, http.StatusOK, status)
	var answer searchAnswer
	require.NoError(t, json.Unmarshal([]byte(body), &answer))
	return answer
}

func TestLoadReadsEveryKind(t *testing.T) {
	t.Parallel()
	c, err := Load(t.Context(), testFolder(), quiet())
	require.NoError(t, err)
	got := map[string]string{}
	for _, document := range c.Documents() {
		got[document.Path] = document.Title
		require.NotContains(t, document.Text, "zirconium", document.Path)
	}
	require.Equal(t, map[string]string{
		"harbour.html": "Harbour dues & tides", "deep/er/lamp house.md": "The lamp house", "notes.txt": "Notes on rope",
		"log.pdf": "Log of the Heron", "latin.html": "Café",
	}, got)
}

func TestSearchFindsEachKind(t *testing.T) {
	t.Parallel()
	site := serve(t)
	cases := map[string]struct{ path, title, date, snippet string }{
		"what do ships pay by tonnage": {"/doc/harbour.html", "Harbour dues & tides", "2024-03-01T10:00:00", "Ships pay by tonnage at the quay."},
		"trimming wicks":               {"/doc/deep/er/lamp%20house.md", "The lamp house", "2023-01-02T00:00:00", "The keeper trims the wick at dusk."},
		"manila rope":                  {"/doc/notes.txt", "Notes on rope", "2022-05-06T00:00:00", "Manila rope loses strength when it is wet."},
		"barquentine":                  {"/doc/log.pdf", "Log of the Heron", "", "Sighted a barquentine off the shoal."},
	}
	for query, want := range cases {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			answer := find(t, site, query)
			require.Equal(t, query, answer.Query)
			require.NotEmpty(t, answer.Results)
			require.Equal(t, len(answer.Results), answer.NumberOfResults)
			first := answer.Results[0]
			require.Equal(t, site+want.path, first.URL)
			require.Equal(t, want.title, first.Title)
			require.Contains(t, first.Content, want.snippet)
			require.Equal(t, []string{engine}, first.Engines)
			if want.date == "" {
				require.Nil(t, first.PublishedDate)
			} else {
				require.Equal(t, want.date, *first.PublishedDate)
			}
			status, _, _ := get(t, first.URL)
			require.Equal(t, http.StatusOK, status)
		})
	}
}

func TestSearchRefusals(t *testing.T) {
	t.Parallel()
	site := serve(t)
	for path, want := range map[string]int{
		"/search?format=json":          http.StatusBadRequest,
		"/search?format=json&q=%20":    http.StatusBadRequest,
		"/search?format=csv&q=rope":    http.StatusForbidden,
		"/search?q=rope":               http.StatusOK,
		"/":                            http.StatusOK,
		"/doc/.secret/key.txt":         http.StatusNotFound,
		"/doc/.hidden.html":            http.StatusNotFound,
		"/doc/deep":                    http.StatusNotFound,
		"/doc/..%2f..%2fetc%2fpasswd":  http.StatusNotFound,
		"/doc/none.html":               http.StatusNotFound,
		"/doc/style.css":               http.StatusOK,
		"/doc/deep/er/lamp%20house.md": http.StatusOK,
	} {
		status, _, _ := get(t, site+path)
		require.Equal(t, want, status, path)
	}
	require.Empty(t, find(t, site, "tonnage of zeppelins, quasars and volcanoes in space").Results)
	require.Equal(t, []searchResult{}, find(t, site, "nothing matches xyzzy").Results)
}

func TestSearchPages(t *testing.T) {
	t.Parallel()
	folder := fstest.MapFS{}
	for i := range 23 {
		folder[fmt.Sprintf("p%02d.txt", i)] = &fstest.MapFile{Data: []byte(fmt.Sprintf("Page %d\n\n%s.", i, strings.Repeat("walrus ", i+1)))}
	}
	c, err := Load(t.Context(), folder, quiet())
	require.NoError(t, err)
	seen := map[string]bool{}
	for page, want := range []int{10, 10, 3, 0} {
		answer := c.answer("http://site", "walrus", page+1)
		require.Len(t, answer.Results, want)
		require.Equal(t, 23, answer.NumberOfResults)
		for _, result := range answer.Results {
			seen[result.URL] = true
		}
	}
	require.Len(t, seen, 23)
}

func TestFolderDoesNotFollowLinksOut(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside.txt")
	require.NoError(t, os.WriteFile(outside, []byte("private tonnage"), 0o600))
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "in.txt"), []byte("public tonnage"), 0o600))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "out.txt")))
	root, err := Folder(dir)
	require.NoError(t, err)
	defer root.Close()
	c, err := Load(t.Context(), root.FS(), quiet())
	require.NoError(t, err)
	require.Len(t, c.Documents(), 1)
	recorder := httptest.NewRecorder()
	c.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/doc/out.txt", nil))
	require.Equal(t, http.StatusNotFound, recorder.Code)

	_, err = Folder(filepath.Join(dir, "none"))
	require.ErrorContains(t, err, "open the corpus")
}

func TestLoadStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Load(ctx, testFolder(), quiet())
	require.ErrorIs(t, err, context.Canceled)
}

func TestParseDate(t *testing.T) {
	t.Parallel()
	day := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)
	require.Equal(t, day, parseDate("2024-03-01"))
	require.Equal(t, day, parseDate("2024-03"))
	require.Equal(t, day.Add(9*time.Hour), parseDate("2024-03-01T10:00:00+01:00"))
	require.True(t, parseDate("last spring").IsZero())
}
