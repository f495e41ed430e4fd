package extract

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fathom-research/fathom/platform/fault"
)

// fuzzPage checks what callers rely on for any body of a type.
func fuzzPage(f *testing.F, contentType string) {
	f.Helper()
	f.Fuzz(func(t *testing.T, body []byte) {
		page, err := Page(Document{URL: "https://example.org/a", ContentType: contentType, Body: body})
		if err != nil {
			var known *fault.Error
			if !errors.As(err, &known) {
				t.Fatalf("error of unknown kind: %v", err)
			}
			return
		}
		text := page.GetText()
		if strings.TrimSpace(text) == "" || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			t.Fatalf("text %q breaks a promise", text)
		}
		at := int32(0)
		for _, s := range page.GetSections() {
			if s.GetStart() < at || s.GetEnd() <= s.GetStart() || int(s.GetEnd()) > len(text) {
				t.Fatalf("section %v after %d in %d bytes", s, at, len(text))
			}
			at = s.GetEnd()
		}
	})
}

func FuzzHTML(f *testing.F) {
	for _, name := range []string{"article", "forum", "documentation"} {
		body, err := os.ReadFile(filepath.Join("testdata", name+".html"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Add([]byte("<table><tr><td><table><pre>```</table>"))
	fuzzPage(f, "text/html")
}

func FuzzPDF(f *testing.F) {
	f.Add(samplePDF())
	fuzzPage(f, mediaPDF)
}

func FuzzDOCX(f *testing.F) {
	f.Add(sampleDOCX(f))
	fuzzPage(f, mediaDOCX)
}

// FuzzWord feeds the body of a document without the archive around it.
func FuzzWord(f *testing.F) {
	f.Add([]byte(`<w:p xmlns:w="w"><w:r><w:t>a</w:t></w:r></w:p>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		w := word{}
		_ = w.read(body)
	})
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"title":"a","b":[1,"` + "```" + `"]}`))
	fuzzPage(f, mediaJSON)
}

func FuzzText(f *testing.F) {
	f.Add([]byte("# a\n\n```\nb"))
	fuzzPage(f, mediaMarkdown)
}

// FuzzMayBeDated checks that nothing is lost by not looking for a date.
func FuzzMayBeDated(f *testing.F) {
	for _, text := range []string{"3 Jan 2024", "2024-01-02", "5 days ago", "10:30", "MAY 1", "1 2 3"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for i := range len(text) {
			if text[i] >= utf8.RuneSelf { // which fold to letters of ASCII at times
				return
			}
		}
		if dateLike.MatchString(text) && !mayBeDated(text) {
			t.Fatalf("a date in %q is not seen", text)
		}
	})
}
