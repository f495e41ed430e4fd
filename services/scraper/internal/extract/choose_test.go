package extract

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// chosen is what is left of a page when the blocks are kept that begin with +.
func chosen(t *testing.T, source string, rule func(*outline, []bool) []bool) string {
	t.Helper()
	tree, err := parseHTML([]byte(source))
	require.NoError(t, err)
	o := outlineOf(tree, "")
	keep := make([]bool, len(o.blocks))
	for i := range keep {
		keep[i] = strings.HasPrefix(o.blocks[i].text, "+")
	}
	return strings.Join(strings.Fields(o.lines(rule(o, keep))), " ")
}

func TestLastHeadings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ html, want string }{
		"over nothing":    {"<p>+a</p><h2>+b</h2><p>+c</p><p>+d</p><h2>+related</h2><ul><li>e</li></ul><h3>+more</h3>", "+a +b +c +d"},
		"over something":  {"<p>+a</p><h2>+b</h2><p>+c</p>", "+a +b +c"},
		"mostly headings": {"<h1>+a</h1><h3>+b</h3><p>teaser</p><h3>+c</h3><p>teaser</p>", "+a +b +c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, chosen(t, c.html, (*outline).withoutLastHeadings))
		})
	}
}

func TestCopiesAreKeptOnce(t *testing.T) {
	t.Parallel()
	prose := "+ " + strings.Repeat("word ", copyWords)
	text := chosen(t, "<p>"+prose+"</p><p>+ short</p><p>+ short</p><p>"+prose+"</p>", (*outline).withoutCopies)
	require.Equal(t, strings.TrimSpace(prose)+" + short + short", text)
}

func TestLikeliestKeepsSomething(t *testing.T) {
	t.Parallel()
	o := &outline{blocks: []block{{tokens: make([]uint64, 9)}, {tokens: make([]uint64, 1)}, {tokens: make([]uint64, 90)}}}
	require.Equal(t, []bool{true, false, false}, o.likeliest([]float32{0.9, 0.1, 0.01}))
	require.Contains(t, o.likeliest([]float32{0, 0, 0}), true)
}

func TestUnmarkedLeavesFurnitureOut(t *testing.T) {
	t.Parallel()
	text := chosen(t, "<nav><ul><li>menu</li></ul></nav><main><p>text</p><aside>more</aside></main><footer>foot</footer>",
		func(o *outline, _ []bool) []bool { return o.unmarked() })
	require.Equal(t, "text", text)
}
