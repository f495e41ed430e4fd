package extract

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// whole renders all of a page.
func whole(t *testing.T, source string) string {
	t.Helper()
	tree, err := parseHTML([]byte(source))
	require.NoError(t, err)
	removeInvisible(tree)
	o := outlineOf(tree, "")
	keep := make([]bool, len(o.blocks))
	for i := range keep {
		keep[i] = true
	}
	base, err := url.Parse("https://example.org/dir/page")
	require.NoError(t, err)
	return o.render(tree, keep, base)
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ html, want string }{
		"headings":          {"<h1>One</h1><p>a</p><h3>Three</h3><p>b</p>", "# One\n\na\n\n### Three\n\nb"},
		"emphasis":          {"<p>very <b>bold</b>, <i>slanted</i> words</p>", "very **bold**, *slanted* words"},
		"spaces at marks":   {"<p>a<b> b </b>c</p>", "a **b** c"},
		"link":              {`<p>see <a href="../x?a=1">the page</a>.</p>`, "see [the page](https://example.org/x?a=1)."},
		"link to itself":    {`<p><a href="#top">up</a></p>`, "up"},
		"place in itself":   {`<p><a href="page#top">up</a></p>`, "up"},
		"script link":       {`<p><a href="javascript:x()">run</a></p>`, "run"},
		"list":              {"<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>", "- a\n- b\n  - c"},
		"numbers":           {`<ol start="3"><li>a</li><li>b</li></ol>`, "3. a\n4. b"},
		"list between text": {"<p>x</p><ul><li><p>a</p></li><li><p>b</p></li></ul><p>y</p>", "x\n\n- a\n- b\n\ny"},
		"quote":             {"<blockquote><p>a</p><p>b</p></blockquote><p>c</p>", "> a\n>\n> b\n\nc"},
		"quote after text":  {"<p>x</p><blockquote><p>a</p></blockquote>", "x\n\n> a"},
		"code":              {"<p>run <code>go  test</code></p>", "run `go test`"},
		"fence":             {"<pre><code class='language-go'>a := 1\n\tb()</code></pre>", "```go\na := 1\n\tb()\n```"},
		"fence in code":     {"<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"},
		"table":             {"<table><tr><th>a</th><th>b</th></tr><tr><td>1|2</td><td>3</td></tr></table>", "| a | b |\n| --- | --- |\n| 1\\|2 | 3 |"},
		"layout table":      {"<table><tr><td><h2>t</h2><p>a</p></td><td><p>b</p></td></tr></table>", "## t\n\na\n\nb"},
		"caption":           {"<figure><img src=x alt=y><figcaption>what is seen</figcaption></figure>", "*what is seen*"},
		"breaks":            {"<p>a<br>b</p>", "a\nb"},
		"escapes":           {"<p># not a heading * nor a list `x` &lt;b&gt;</p>", "\\# not a heading \\* nor a list \\`x\\` \\<b>"},
		"number and stop":   {"<p>1. first</p>", "1\\. first"},
		"block in link":     {`<a href="/x"><div>a</div><div>b</div></a>`, "a\n\nb"},
		"definitions":       {"<dl><dt>t</dt><dd>d</dd></dl>", "**t**\n\nd"},
		"hard space":        {`<p>the&nbsp;<a href="/x">page</a>&nbsp;is</p>`, "the [page](https://example.org/x) is"},
		"permalink":         {`<h2>Part<a href="#part">¶</a></h2>`, "## Part"},
		"margin column":     {"<table><tr><td>1<td><td>a</tr><tr><td>2<td><td>b</tr></table>", "| 1 | a |\n| --- | --- |\n| 2 | b |"},
		"footnote":          {`<p>so it is<sup><a href="#fn1">[1]</a></sup></p>`, "so it is[^1]"},
		"table caption":     {"<table><caption>Yields</caption><tr><th>a<th>b<tr><td>1<td>2</table>", "*Yields*\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"},
		"code in a list":    {"<ul><li>run<pre>a\n  b</pre></li></ul>", "- run\n\n  ```\n  a\n    b\n  ```"},
		"lines of code":     {"<pre><span>a</span>\n<span>b</span><br>c</pre>", "```\na\nb\nc\n```"},
		"nested numbers":    {"<ol><li>a<ol><li>b</li></ol></li><li>c</li></ol>", "1. a\n   1. b\n2. c"},
		"white space":       {"<p>a\n   b\t c&nbsp;d</p>", "a b c d"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, whole(t, c.html))
		})
	}
}

func TestHiddenTextIsLeftOut(t *testing.T) {
	t.Parallel()
	for _, hidden := range []string{
		`<p style="display:none">secret</p>`, `<p style="display : NONE !important">secret</p>`, `<p hidden>secret</p>`,
		`<div style="visibility:hidden"><p>secret</p></div>`, `<p style="font-size:0">secret</p>`, `<p style="font-size:0px;color:red">secret</p>`,
		`<p style="position:absolute;left:-9999px">secret</p>`, `<p style="text-indent:-10000px">secret</p>`, `<p style="opacity:0">secret</p>`,
		`<p style="height:0;overflow:hidden">secret</p>`, `<p style="position:absolute;clip:rect(0,0,0,0)">secret</p>`,
		`<!-- secret -->`, `<script>secret</script>`, `<template><p>secret</p></template>`, `<dialog>secret</dialog>`,
		`<noscript>secret</noscript>`, `<textarea>secret</textarea>`, `<input value=secret>`, `<img alt=secret>`, `<p title=secret></p>`,
	} {
		t.Run(hidden, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, "seen", whole(t, "<p>seen</p>"+hidden))
		})
	}
}

func TestShownTextStays(t *testing.T) {
	t.Parallel()
	for _, shown := range []string{
		`<p style="opacity:0;transform:translateY(20px)">shown</p>`, `<p style="left:-20px;position:absolute">shown</p>`,
		`<p style="margin:0;font-size:0.9em">shown</p>`, `<div hidden id="S:0"><p>shown</p></div>`, `<dialog open>shown</dialog>`,
	} {
		t.Run(shown, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, "seen\n\nshown", whole(t, "<p>seen</p>"+shown))
		})
	}
}

func TestControlCharactersAreStripped(t *testing.T) {
	t.Parallel()
	require.Equal(t, "abcdef", cleanText("a\u200bb\u202ec\u2066d\x00e\U000e0041f"))
	require.Equal(t, "नमस्\u200dते", cleanText("नमस्\u200dते"), "joiners that change letters stay")
	require.Equal(t, "a b\nc", cleanText("a\u00a0b\r\nc"))
	require.Equal(t, "a\ufffdb", cleanText("a\xffb"))
}

func TestTableOfOneLongRowDoesNotGrow(t *testing.T) {
	t.Parallel()
	source := "<table><tr>" + strings.Repeat("<td>a</td>", 2000) + "</tr>" + strings.Repeat("<tr><td>b</td></tr>", 2000) + "</table>"
	require.Less(t, len(whole(t, source)), 2*len(source))
}
