package extract

import (
	"strings"
	"syscall"
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

// hostilePages are pages of about so many bytes that are made to take long.
func hostilePages(size int) map[string]string {
	fill := func(piece string) string { return strings.Repeat(piece, size/len(piece)) }
	return map[string]string{
		"deep":              fill("<div>") + "the text" + strings.Repeat("</div>", 10_000),
		"deep and open":     fill("<div>x"),
		"deep inline":       fill("<b>x"),
		"deep lists":        fill("<ul><li>x"),
		"deep tables":       fill("<table><tr><td>x"),
		"deep quotes":       fill("<blockquote><p>x"),
		"nested tables":     strings.Repeat("<table><tr><td>x<td>y", 60),
		"flat paragraphs":   fill("<p>some words here</p>"),
		"flat links":        "<p>" + fill(`<a href="/x">word</a> `),
		"one word":          fill("x"),
		"one attribute":     `<p class="` + fill("nav-x ") + `">x</p>`,
		"many attributes":   "<p " + fill("a=1 ") + ">x</p>",
		"unlike attributes": fill(`<p class="a b" id="c" data-x="y" style="color:red">x</p>`),
		"breaks":            fill("x<br>"),
		"open tags":         fill("<"),
		"open quotes":       "<p>seen</p>" + fill(`<a href="x`),
		"entities":          fill("&amp;"),
		"stars":             "<p>" + fill("* "),
		"back-quotes":       "<p><code>" + fill("`x") + "</code></p>",
		"styles":            fill(`<p style="display:none">x</p>`),
		"scripts":           "<p>seen</p>" + fill(`<script type="application/ld+json">[[</script>`),
		"json":              `<p>seen</p><script type="application/ld+json">` + fill("[") + `</script>`,
		"headings":          fill("<h2>a</h2>"),
		"long article":      article(size/64, "<p>A sentence of an article, with a comma, that goes on for some time. And more.</p>"),
		"deep article":      article(size/64, "<div><p>A sentence of an article, with a comma, that goes on.</p>"),
		"linked article":    article(size/100, `<p><a href="/x">A sentence of an article</a>, with a comma, that goes on.</p>`),
		"cells":             "<table>" + fill("<tr><td>a</td><td>b</td></tr>"),
		"one row":           "<table><tr>" + fill("<td>a</td>"),
		"wide cells":        "<table>" + fill(`<tr><td colspan=1000>a</td></tr>`),
		"forms":             fill("<form><table><form>x"),
		"misnested":         fill("<b><p><i></b>x"),
	}
}

// TestHostilePages reads each page at two sizes. The larger one may take as many
// times the work as it is larger, and more than that, but not the square.
func TestHostilePages(t *testing.T) {
	const small, times = 1 << 15, 4
	larger := hostilePages(times * small)
	readHostile(t, article(10, "<p>What is made once is made.</p>"))
	for name, body := range hostilePages(small) {
		t.Run(name, func(t *testing.T) {
			first := readHostile(t, body)
			second := readHostile(t, larger[name])
			t.Logf("%v, then %v", first, second)
			require.Less(t, second, times*times/2*first+300*time.Millisecond)
		})
	}
}

// readHostile tells how much of a processor's time the process took meanwhile.
func readHostile(t *testing.T, body string) time.Duration {
	t.Helper()
	began := worked(t)
	page, err := Page(Document{URL: "https://example.org/", ContentType: "text/html", Body: []byte(body)})
	took := worked(t) - began
	if err != nil {
		var f *fault.Error
		require.ErrorAs(t, err, &f)
		return took
	}
	require.NotEmpty(t, page.GetText())
	return took
}

func worked(t testing.TB) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
