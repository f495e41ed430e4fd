package robots

import (
	"context"
	"errors"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fathom-research/fathom/platform/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file    string
		allowed []string
		refused []string
	}{
		"nothing said":          {"", []string{"/", "/a"}, nil},
		"own group over star":   {"User-agent: *\nDisallow: /\nUser-agent: Fathom\nDisallow: /x", []string{"/", "/a"}, []string{"/x", "/x/y"}},
		"star":                  {"User-agent: *\nDisallow: /private", []string{"/"}, []string{"/private/a"}},
		"empty disallow, alone": {"User-agent: fathom\nDisallow:\n\nUser-agent: *\nDisallow: /", []string{"/", "/a"}, nil},
		"longest wins":          {"User-agent: *\nDisallow: /a\nAllow: /a/b", []string{"/a/b/c"}, []string{"/a/c"}},
		"a tie allows":          {"User-agent: *\nDisallow: /a\nAllow: /a", []string{"/a"}, nil},
		"wildcard and end":      {"User-agent: *\nDisallow: /*.pdf$", []string{"/a.pdf?x", "/a.html"}, []string{"/a.pdf", "/b/c.pdf"}},
		"query":                 {"User-agent: *\nDisallow: /s?q=", []string{"/s"}, []string{"/s?q=1"}},
		"bad lines are skipped": {"Disallow: /early\nnonsense\nUser-agent: *\nCrawl-delay: soon\nDisallow: /x\n\x00\xff: y", []string{"/early"}, []string{"/x"}},
		"old line ends and BOM": {"\xef\xbb\xbfUser-agent: *\rDisallow: /x\r\n", []string{"/"}, []string{"/x"}},
		"groups are joined":     {"User-agent: fathom\nDisallow: /a\nUser-agent: other\nDisallow: /\nUser-agent: fathom\nDisallow: /b", []string{"/"}, []string{"/a", "/b"}},
		"several agents":        {"User-agent: other\nUser-agent: fathom\nDisallow: /a", []string{"/"}, []string{"/a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules := parse([]byte(c.file), "fathom")
			for _, path := range c.allowed {
				require.True(t, rules.allows(path), path)
			}
			for _, path := range c.refused {
				require.False(t, rules.allows(path), path)
			}
		})
	}
}

func TestCrawlDelayIsBounded(t *testing.T) {
	t.Parallel()
	require.Equal(t, 2500*time.Millisecond, parse([]byte("User-agent: *\nCrawl-delay: 2.5"), "fathom").delay)
	require.Equal(t, maxDelay, parse([]byte("User-agent: *\nCrawl-delay: 3600"), "fathom").delay)
}

func TestStatusDecides(t *testing.T) {
	t.Parallel()
	forbidding := []byte("User-agent: *\nDisallow: /")
	for name, c := range map[string]struct {
		status int
		err    error
		code   fault.Code
		again  bool
	}{
		"2xx is obeyed":        {200, nil, fault.Robots, false},
		"4xx allows":           {404, nil, "", false},
		"403 allows":           {403, nil, "", false},
		"5xx closes":           {503, nil, fault.Robots, true},
		"no answer closes":     {0, errors.New("reset"), fault.Unavailable, true},
		"refused stays so":     {0, fault.Permanent(fault.RefusedAddress, "private"), fault.RefusedAddress, false},
		"3xx without a target": {304, nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checker := New("Fathom", func(context.Context, string) (int, []byte, error) { return c.status, forbidding, c.err })
			_, err := checker.Check(t.Context(), page(t, "https://example.org/a"))
			if c.code == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, c.code, fault.As(err).Code)
			require.Equal(t, c.again, fault.As(err).Retryable)
		})
	}
}

func TestOneRequestForManyAndForADay(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	gate := make(chan struct{})
	checker := New("Fathom", func(_ context.Context, address string) (int, []byte, error) {
		requests.Add(1)
		<-gate
		require.Equal(t, "https://example.org:8443/robots.txt", address)
		return 200, []byte("User-agent: *\nCrawl-delay: 1"), nil
	})
	done := make(chan error, 20)
	for range cap(done) {
		go func() {
			_, err := checker.Check(t.Context(), page(t, "https://example.org:8443/a"))
			done <- err
		}()
	}
	close(gate)
	for range cap(done) {
		require.NoError(t, <-done)
	}
	require.EqualValues(t, 1, requests.Load())

	checker.now = func() time.Time { return time.Now().Add(keep + time.Hour) }
	delay, err := checker.Check(t.Context(), page(t, "https://example.org:8443/a"))
	require.NoError(t, err)
	require.Equal(t, time.Second, delay)
	require.EqualValues(t, 2, requests.Load())
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	checker := New("Fathom", func(context.Context, string) (int, []byte, error) {
		<-gate
		return 404, nil, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := checker.Check(ctx, page(t, "https://example.org/"))
	require.ErrorIs(t, err, context.Canceled)
	close(gate)
	_, err = checker.Check(t.Context(), page(t, "https://example.org/"))
	require.NoError(t, err)
}

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	checker := New("Fathom", nil)
	for i := range maxSites + 10 {
		checker.store("https://"+string(rune('a'+i%26))+time.Duration(i).String(), site{rules: &rules{}, expires: time.Now().Add(time.Hour)})
	}
	require.LessOrEqual(t, len(checker.sites), maxSites)
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /*a$\nAllow: /b\nCrawl-delay: 1"), "/a")
	f.Add([]byte("User-agent:\x00\nDisallow"), "")
	f.Fuzz(func(t *testing.T, file []byte, path string) {
		rules := parse(file, "fathom")
		require.LessOrEqual(t, rules.delay, maxDelay)
		rules.allows(path)
		// Whatever stands before it, a group of our own name is found and obeyed.
		own := "\nUser-agent: fathom\nDisallow: /exactly-this-path\n"
		if len(file)+len(own) <= maxBytes {
			require.False(t, parse(append(file, own...), "fathom").allows("/exactly-this-path"))
		}
	})
}

func page(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	return u
}
