package locate_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fathom-research/fathom/services/analyzer/internal/locate"
)

const page = "# The “Big” Bridge\n\n" +
	"The bridge — opened in **1932** — carries\n160,000 vehicles a day.[3] It was designed by [John Bradfield](https://example.org/a_(b)) and his team.\n\n" +
	"| Year | Toll |\n| --- | --- |\n| 1932 | six pence |\n\n" +
	"> It’s not the longest span, but it is the widest\u00a0one. Nobody expected the cost to rise… and yet it did."

func TestFind(t *testing.T) {
	t.Parallel()
	index := locate.New(page)
	cases := map[string]struct{ quote, want string }{
		"exact":              {"160,000 vehicles a day.", "160,000 vehicles a day."},
		"no markdown":        {"opened in 1932 — carries 160,000 vehicles", "opened in **1932** — carries\n160,000 vehicles"},
		"other dashes":       {"The bridge - opened in 1932 - carries", "The bridge — opened in **1932** — carries"},
		"other quotes":       {`The "Big" Bridge`, "The “Big” Bridge"},
		"apostrophe, spaces": {"It's not the longest span,  but it is the widest one.", "It’s not the longest span, but it is the widest\u00a0one."},
		"without the link":   {"It was designed by John Bradfield and his team.", "It was designed by [John Bradfield](https://example.org/a_(b)) and his team."},
		"without footnote":   {"vehicles a day. It was designed by", "vehicles a day.[3] It was designed by"},
		"case and full stop": {"the BRIDGE — opened in 1932.", "The bridge — opened in **1932"},
		"table row":          {"1932 | six pence", "1932 | six pence"},
		"ellipsis character": {"expected the cost to rise... and yet it did", "expected the cost to rise… and yet it did."},
		"elided":             {"The bridge — opened in 1932 … designed by John Bradfield", "The bridge — opened in **1932** — carries\n160,000 vehicles a day.[3] It was designed by [John Bradfield"},
		"within quotes":      {"“160,000 vehicles a day”", "160,000 vehicles a day."},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			span, ok := index.Find(c.quote, 0, len(page))
			require.True(t, ok)
			require.Equal(t, c.want, page[span.Start:span.End])
		})
	}
}

func TestFindRefuses(t *testing.T) {
	t.Parallel()
	index := locate.New(page)
	for _, quote := range []string{
		"", "1932", "The bridge was closed in 1932.", "carries 190,000 vehicles a day", "… … …",
		"It was designed by Bradfield", "and yet it did … The bridge — opened in 1932", strings.Repeat("x ", 3000),
	} {
		_, ok := index.Find(quote, 0, len(page))
		require.False(t, ok, quote)
	}
}

func TestFindPrefersTheWindowThatWasRead(t *testing.T) {
	t.Parallel()
	text := "The same words stand here. " + strings.Repeat("other words. ", 20) + "The same words stand here."
	index := locate.New(text)
	for _, quote := range []string{"The same words stand here.", "the same “words” stand here", "The same *words* stand here"} {
		span, ok := index.Find(quote, 100, len(text))
		if quote == "the same “words” stand here" {
			require.False(t, ok)
			continue
		}
		require.True(t, ok, quote)
		require.Greater(t, span.Start, 100)
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	require.Equal(t, "The bridge opened in 1932. See Bradfield, my_name", locate.Plain("The **bridge**\n opened in 1932.[3] See [Bradfield](http://x), my_name"))
}

// However a quote is dressed, it is found where it stands, at whole characters.
func TestADressedQuoteIsFoundVerbatim(t *testing.T) {
	t.Parallel()
	words := rapid.SliceOfN(rapid.StringMatching(`[a-zäß]{1,9}`), 12, 60)
	rapid.Check(t, func(t *rapid.T) {
		list := words.Draw(t, "words")
		joints := rapid.SliceOfN(rapid.SampledFrom([]string{" ", "\n", " **", "** ", " — ", " – ", ", “", "” ", "\u00a0"}), len(list), len(list)).Draw(t, "joints")
		var b strings.Builder
		starts := make([]int, len(list))
		for i, word := range list {
			starts[i] = b.Len()
			b.WriteString(word + joints[i])
		}
		text := b.String()
		from := rapid.IntRange(0, len(list)-8).Draw(t, "from")
		to := rapid.IntRange(from+7, len(list)-1).Draw(t, "to")
		raw := text[starts[from] : starts[to]+len(list[to])]
		dressed := strings.NewReplacer("**", "", "—", "-", "–", "-", "“", `"`, "”", `"`, "\u00a0", " ", "\n", " ").Replace(raw)
		span, ok := locate.New(text).Find(dressed, 0, len(text))
		if len(dressed) < 30 {
			return
		}
		if !ok {
			t.Fatalf("%q is not found in %q", dressed, text)
		}
		found := text[span.Start:span.End]
		if !utf8.ValidString(found) || locate.Plain(found) != locate.Plain(raw) && strings.Count(text, list[from]) == 1 {
			t.Fatalf("found %q for %q", found, raw)
		}
	})
}

func FuzzFind(f *testing.F) {
	f.Add(page, "opened in 1932")
	f.Add("[[[[", "]](((")
	f.Fuzz(func(t *testing.T, text, quote string) {
		span, ok := locate.New(text).Find(quote, 0, len(text))
		if ok && (span.Start < 0 || span.Start >= span.End || span.End > len(text)) {
			t.Fatalf("span %v of %d bytes", span, len(text))
		}
	})
}
