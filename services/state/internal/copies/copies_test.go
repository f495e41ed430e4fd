package copies_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/services/state/internal/copies"
)

func prose(from, n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("word%d", from+i)
	}
	return strings.Join(words, " ")
}

func TestSame(t *testing.T) {
	t.Parallel()
	article := prose(0, 300)
	inside := strings.Replace(article, "word150 ", "another ", 1)
	figures := strings.Replace(article, "word50", "5000", 1)
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"other marks and case":      {article, "# " + strings.ToUpper(strings.ReplaceAll(article, " word10 ", " **word10**, ")), true},
		"a print view":              {article, "Print this page\n\n" + article + "\n\nPrinted from example.org on 3 May", true},
		"syndicated":                {"By Our Correspondent, London. " + article, "Reuters. " + article + " First published elsewhere.", true},
		"an advertisement inside":   {article, strings.Replace(article, "word150 ", "word150 Advertisement Read on below ", 1), true},
		"the end is cut":            {article, prose(0, 290), true},
		"another name inside":       {article, inside, false},
		"another figure":            {strings.Replace(article, "word50", "4000", 1), figures, false},
		"much more":                 {article, article + " " + prose(1000, 100), false},
		"another text":              {article, prose(1000, 300), false},
		"too short to tell":         {prose(0, 60), prose(0, 59) + " other", false},
		"nothing":                   {"", "", false},
		"the second half is other":  {article, prose(0, 150) + " " + prose(1000, 150), false},
		"a part, and as much again": {prose(0, 150), article, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.same, copies.Same(c.a, c.b))
			require.Equal(t, c.same, copies.Same(c.b, c.a))
		})
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	for _, same := range [][2]string{
		{"https://www.example.org/a/", "http://example.org/a"},
		{"https://EXAMPLE.org./a?id=1", "https://example.org/a?id=1#part"},
	} {
		require.Equal(t, copies.Identity(same[0], ""), copies.Identity("", same[1]))
		require.NotEmpty(t, copies.Identity(same[0], ""))
	}
	require.NotEqual(t, copies.Identity("https://example.org/a?id=1", ""), copies.Identity("https://example.org/a?id=2", ""))
	for _, none := range [][2]string{
		{"https://example.org/", "https://example.org/a"}, {"", ""}, {"javascript:x", "data:,x"}, {"/relative", ""},
	} {
		require.Empty(t, copies.Identity(none[0], none[1]))
	}
	require.NotEmpty(t, copies.Identity("/relative", "https://example.org/a"))
	require.Equal(t, "evil.example/x?", copies.Identity("https://paper.org/story", "https://evil.example/x"), "another site's address is not believed")
	require.Equal(t, "paper.org/story?", copies.Identity("https://paper.org/story", "https://amp.paper.org/story/1"))
	require.Equal(t, "127.0.0.1:81/x?", copies.Identity("http://127.0.0.1:80/a", "http://127.0.0.1:81/x"))
}

func TestDomain(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://www.example.co.uk/a": "example.co.uk", "https://a.b.EXAMPLE.org.:8443/": "example.org", "https://someone.github.io/": "someone.github.io",
		"http://127.0.0.1:8080/": "", "http://[2001:db8::1]/": "", "http://intranet/": "", "http://co.uk/": "", "::": "",
	} {
		require.Equal(t, want, copies.Domain(address), address)
	}
}

func FuzzIdentityAndDomain(f *testing.F) {
	f.Add("https://www.example.org/a/?b#c", "http://[::1]/")
	f.Fuzz(func(_ *testing.T, a, b string) {
		copies.Identity(a, b)
		copies.Domain(a)
		copies.Same(a, b)
	})
}
