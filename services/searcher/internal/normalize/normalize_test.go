package normalize

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

func TestURL(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"https://Example.ORG":                                  "https://example.org/",
		"HTTPS://Example.org:443/Path/CASE?Q=A":                "https://example.org/Path/CASE?Q=A",
		"http://example.org:80/":                               "http://example.org/",
		"http://example.org:8080/":                             "http://example.org:8080/",
		"https://example.org:80/":                              "https://example.org:80/",
		"https://example.org/a#part":                           "https://example.org/a",
		"https://example.org/a/../b/./c":                       "https://example.org/b/c",
		"https://example.org/?":                                "https://example.org/",
		"https://example.org/?utm_source=x&id=7&UTM_Medium=y":  "https://example.org/?id=7",
		"https://example.org/?fbclid=1#x":                      "https://example.org/",
		"https://example.org/?b=2&a=1":                         "https://example.org/?b=2&a=1",
		"https://example.org/?q=a%20b+c&&d":                    "https://example.org/?q=a%20b+c&d",
		"https://example.org/?%75tm_source=x":                  "https://example.org/",
		"https://example.org/?ref=main":                        "https://example.org/?ref=main",
		"https://bücher.example/ä":                             "https://xn--bcher-kva.example/%C3%A4",
		"https://example.org/a b":                              "https://example.org/a%20b",
		"https:\\\\example.org\\a":                             "https://example.org/a",
		"http://0x7f.1/":                                       "http://127.0.0.1/",
		"http://[2001:DB8::0:1]:80/":                           "http://[2001:db8::1]/",
		"https://example.org/%e4%b8%ad":                        "https://example.org/%e4%b8%ad",
		"https://example.org/wiki/Go_(programming_language)":   "https://example.org/wiki/Go_(programming_language)",
		"https://example.org/a?url=https://other.example/?x=1": "https://example.org/a?url=https://other.example/?x=1",
	}
	for raw, want := range cases {
		got, err := URL(raw)
		require.NoError(t, err, raw)
		require.Equal(t, want, got, raw)
	}
}

func TestURLRefuses(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"", "/relative", "example.org", "ftp://example.org/", "file:///etc/passwd", "javascript:alert(1)",
		"data:text/html,x", "https://", "https://user:secret@example.org/", "https://user@example.org/",
		"https://example.org/\x00", "https://example.org/\n", "https://example.org/\xff", "https://example.org/\ufffd",
		"https://exa mple.org/", "https://example.org:99999/", "https://[::1/", "https://%00.example/",
		"https://example.org/" + strings.Repeat("a", MaxURL),
		"https://example.org/" + strings.Repeat("中", MaxURL/4),
	} {
		_, err := URL(raw)
		require.Error(t, err, "%q", raw)
	}
}

func TestHitsMergeDoublesAndKeepTheFirstURL(t *testing.T) {
	t.Parallel()
	hits := NewHits(2)
	require.True(t, hits.Add(&workv1.Hit{Url: " https://Example.org/a?utm_source=feed ", Title: "One\x00 \xff page"}))
	require.False(t, hits.Add(&workv1.Hit{Url: "https://example.org/a#top", Title: "Other", Snippet: "found later"}))
	require.False(t, hits.Add(&workv1.Hit{Url: "mailto:someone@example.org"}))
	require.True(t, hits.Add(&workv1.Hit{Url: "https://example.org/b"}))
	require.True(t, hits.Full())
	require.False(t, hits.Add(&workv1.Hit{Url: "https://example.org/c"}))

	require.Len(t, hits.All(), 2)
	first := hits.All()[0]
	require.Equal(t, "https://Example.org/a?utm_source=feed", first.GetUrl())
	require.Equal(t, "https://example.org/a", first.GetNormalizedUrl())
	require.Equal(t, "One page", first.GetTitle())
	require.Equal(t, "found later", first.GetSnippet())
}

func TestTextIsNeverCutInsideACharacter(t *testing.T) {
	t.Parallel()
	for limit := range 12 {
		got := Text("äöü\tß\u0000 中文", limit)
		require.True(t, utf8.ValidString(got), "%q", got)
		require.LessOrEqual(t, len(got), limit)
	}
}

func FuzzURL(f *testing.F) {
	for _, seed := range []string{
		"https://Example.org:443/a/../b?utm_source=x&q=1#f", "http://0x7f.1/", "https://bücher.example/ä?%75tm_a=b",
		"http:\\\\x\\y", "https://user@host/", "http://[::1]:80/?&&", "HTTP://A/%zz?%zz=1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		normal, err := URL(raw)
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(normal), MaxURL)
		require.True(t, utf8.ValidString(normal))
		require.NotContains(t, normal, "#")
		again, err := URL(normal)
		require.NoError(t, err, "%q of %q", normal, raw)
		require.Equal(t, normal, again, "of %q", raw)
	})
}
