package extract

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/fault"
)

// article is a page that calls itself one.
func article(times int, piece string) string {
	return `<html><head><meta property="og:type" content="article"><meta property="article:published_time" content="2024-01-01"></head><body><article><h1>Title</h1>` +
		strings.Repeat(piece, times)
}

// TestHostilePages reads pages that are made to take long. The bound is far above
// what they take, and far below what a quadratic step would.
func TestHostilePages(t *testing.T) {
	const size = 1 << 20
	fill := func(piece string) string { return strings.Repeat(piece, size/len(piece)) }
	for name, body := range map[string]string{
		"deep":            strings.Repeat("<div>", 100_000) + "the text" + strings.Repeat("</div>", 100_000),
		"deep and open":   fill("<div>x"),
		"deep inline":     fill("<b>x"),
		"deep lists":      fill("<ul><li>x"),
		"deep tables":     fill("<table><tr><td>x"),
		"nested tables":   strings.Repeat("<table><tr><td>x<td>y", 60),
		"flat paragraphs": fill("<p>some words here</p>"),
		"flat links":      "<p>" + fill(`<a href="/x">word</a> `),
		"one word":        fill("x"),
		"one attribute":   `<p class="` + fill("nav-x ") + `">x</p>`,
		"many attributes": "<p " + fill("a=1 ") + ">x</p>",
		"breaks":          fill("x<br>"),
		"open tags":       fill("<"),
		"entities":        fill("&amp;"),
		"stars":           "<p>" + fill("* "),
		"styles":          fill(`<p style="display:none">x</p>`),
		"scripts":         "<p>seen</p>" + fill(`<script type="application/ld+json">[[</script>`),
		"json":            `<p>seen</p><script type="application/ld+json">` + fill("[") + `</script>`,
		"headings":        fill("<h2>a</h2>"),
		"long article":    article(19_000, "<p>A sentence of an article, with a comma, that goes on for some time. And more.</p>"),
		"deep article":    article(18_000, "<div><p>A sentence of an article, with a comma, that goes on.</p>"),
		"linked article":  article(9_000, `<p><a href="/x">A sentence of an article</a>, with a comma, that goes on.</p>`),
		"cells":           "<table>" + fill("<tr><td>a</td><td>b</td></tr>"),
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			page, err := Page(Document{URL: "https://example.org/", ContentType: "text/html", Body: []byte(body)})
			runtime.ReadMemStats(&after)
			t.Logf("%v, %d MiB allocated", time.Since(began).Round(time.Millisecond), (after.TotalAlloc-before.TotalAlloc)>>20)
			require.Less(t, time.Since(began), 30*time.Second)
			if err != nil {
				var f *fault.Error
				require.True(t, errors.As(err, &f))
				return
			}
			require.NotEmpty(t, page.GetText())
		})
	}
}
