package extract

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// repeated are the first and the last words of what grows in a page of testdata.
var repeated = map[string][2]string{
	"article":       {"<p>For six", "</div>\n<div class=\"share"},
	"documentation": {"<h2>Setting", "</div></div>"},
	"forum":         {"<div class=\"post\">", "<div id=\"footer\">"},
}

// grown is a page of testdata whose main content is repeated until it has about
// so many bytes, each time with other words, as a long page has.
func grown(b *testing.B, name string, size int) []byte {
	b.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name+".html"))
	if err != nil {
		b.Fatal(err)
	}
	page := string(body)
	open, shut := strings.Index(page, repeated[name][0]), strings.Index(page, repeated[name][1])
	var out strings.Builder
	out.WriteString(page[:open])
	for i := 0; out.Len() < size; i++ {
		out.WriteString(strings.ReplaceAll(page[open:shut], "the ", fmt.Sprintf("the %dth ", i)))
	}
	out.WriteString(page[shut:])
	return []byte(out.String())
}

// BenchmarkExtract reads pages of three kinds, and has the libraries that are
// asked on articles do so alone.
func BenchmarkExtract(b *testing.B) {
	address := "https://www.example.org/2025/page"
	base, err := url.Parse(address)
	if err != nil {
		b.Fatal(err)
	}
	alone := func(library func(*html.Node, *url.URL) string) func([]byte) {
		return func(body []byte) {
			tree, err := html.Parse(bytes.NewReader(body))
			if err != nil || library(tree, base) == "" {
				b.Fatal("nothing was found")
			}
		}
	}
	for _, kind := range []string{"article", "documentation", "forum"} {
		body := grown(b, kind, 64<<10)
		for _, way := range []struct {
			name string
			read func([]byte)
		}{
			{"fathom", func(body []byte) {
				if _, err := Page(Document{URL: address, ContentType: "text/html; charset=utf-8", Body: body}); err != nil {
					b.Fatal(err)
				}
			}},
			{"trafilatura", alone(byTrafilatura)},
			{"readability", alone(byReadability)},
		} {
			b.Run(kind+"/"+way.name, func(b *testing.B) {
				way.read(body) // what is made once is no part of it
				began := worked(b)
				b.ReportAllocs()
				for b.Loop() {
					way.read(body)
				}
				kilobytes := float64(b.N) * float64(len(body)) / 1024
				b.ReportMetric(float64(b.Elapsed().Microseconds())/kilobytes, "µs/KB")
				b.ReportMetric(float64((worked(b)-began).Microseconds())/kilobytes, "cpu-µs/KB")
			})
		}
	}
}
