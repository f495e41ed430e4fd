package provider

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fathom-research/fathom/platform/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// openGate lets everything in and remembers penalties.
type openGate struct {
	entered   atomic.Int32
	left      atomic.Int32
	penalized atomic.Int64
	refuse    func(entry int32) error
}

func (g *openGate) Enter(context.Context) (func(), error) {
	entry := g.entered.Add(1)
	if g.refuse != nil {
		err := g.refuse(entry)
		if err != nil {
			g.left.Add(1)
			return nil, err
		}
	}
	return func() { g.left.Add(1) }, nil
}

func (g *openGate) Penalize(_ context.Context, until time.Time) error {
	g.penalized.Store(until.Unix())
	return nil
}

// serve starts a small SearXNG that answers with handle, and a client of it.
func serve(t *testing.T, handle http.HandlerFunc) (*SearXNG, *openGate) {
	t.Helper()
	server := httptest.NewServer(handle)
	base, err := url.Parse(server.URL + "/searx")
	require.NoError(t, err)
	gate := &openGate{}
	client := NewSearXNG(Options{Base: base, Timeout: 2 * time.Second, Pages: 3, Gate: gate})
	t.Cleanup(func() {
		client.Close()
		server.Close()
		require.Equal(t, gate.entered.Load(), gate.left.Load(), "every place is given back")
	})
	return client, gate
}

func answerJSON(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, body)
}

// results writes n results of a page, which differ from those of other pages.
func results(page, n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`{"url":"https://example.org/%d/%d","title":"T%d","content":"S","engine":"e","score":1.5,"publishedDate":null}`, page, i, i))
	}
	return `{"query":"q","number_of_results":0,"results":[` + strings.Join(list, ",") + `],"unresponsive_engines":[]}`
}

func TestSearchSendsItsOptionsAndReadsHits(t *testing.T) {
	t.Parallel()
	asked := make(chan *url.URL, 1)
	client, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL
		answerJSON(w, `{"number_of_results":0,"results":[
			{"url":"https://Example.org/a?utm_source=x","title":"First","content":"about \u0000 a","engine":"wiki","publishedDate":"2024-05-06T07:08:09"},
			{"url":"https://example.org/a","title":"double","content":"x"},
			{"url":"https://example.org/b","title":7,"content":null,"engine":["odd"],"pubdate":"2023-01-02 03:04:05+0000"},
			{"url":"javascript:alert(1)","title":"hostile"},
			{"url":"https://user:pw@example.org/","title":"hostile"},
			{"url":42},"text",null,
			{"title":"no url"}],
			"unresponsive_engines":[["google","CAPTCHA"],["bing","timeout",true],"odd",7]}`)
	})
	answer, err := client.Search(t.Context(), Query{
		Text: "!!g what :fr is <3 2<3 C++ x!=y", Language: "en", TimeRange: "year",
		Categories: []string{"general", "science"}, SafeSearch: 2, Limit: 2,
	})
	require.NoError(t, err)

	sent := <-asked
	require.Equal(t, "/searx/search", sent.Path)
	require.Equal(t, url.Values{
		"q": {"g what fr is 3 2<3 C++ x!=y"}, "format": {"json"}, "pageno": {"1"}, "safesearch": {"2"},
		"categories": {"general,science"}, "language": {"en"}, "time_range": {"year"},
	}, sent.Query())

	require.Len(t, answer.Hits, 2)
	require.Equal(t, "https://Example.org/a?utm_source=x", answer.Hits[0].GetUrl())
	require.Equal(t, "https://example.org/a", answer.Hits[0].GetNormalizedUrl())
	require.Equal(t, "about a", answer.Hits[0].GetSnippet())
	require.Equal(t, "2024-05-06T07:08:09Z", answer.Hits[0].GetPublished().AsTime().Format(time.RFC3339))
	require.Empty(t, answer.Hits[1].GetTitle())
	require.Equal(t, "2023-01-02T03:04:05Z", answer.Hits[1].GetPublished().AsTime().Format(time.RFC3339))
	require.Equal(t, []string{"google: CAPTCHA", "bing: timeout", "odd"}, answer.Unresponsive)
}

func TestSearchPagesUntilTheLimitIsFull(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		perPage, limit, wantHits int
		wantPages                int32
		repeat                   bool
	}{
		"first page is enough": {perPage: 10, limit: 7, wantHits: 7, wantPages: 1},
		"second page fills":    {perPage: 4, limit: 7, wantHits: 7, wantPages: 2},
		"bounded":              {perPage: 2, limit: 7, wantHits: 6, wantPages: 3},
		"engine can't page":    {perPage: 3, limit: 7, wantHits: 3, wantPages: 2, repeat: true},
		"nothing":              {perPage: 0, limit: 7, wantHits: 0, wantPages: 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, gate := serve(t, func(w http.ResponseWriter, r *http.Request) {
				page, err := strconv.Atoi(r.FormValue("pageno"))
				if err != nil || c.repeat {
					page = 1
				}
				answerJSON(w, results(page, c.perPage))
			})
			answer, err := client.Search(t.Context(), Query{Text: "q", Limit: c.limit})
			require.NoError(t, err)
			require.Len(t, answer.Hits, c.wantHits)
			require.Equal(t, c.wantPages, gate.entered.Load())
		})
	}
}

func TestSearchKeepsTheFirstPagesWhenALaterOneFails(t *testing.T) {
	t.Parallel()
	client, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("pageno") != "1" {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		answerJSON(w, results(1, 3))
	})
	answer, err := client.Search(t.Context(), Query{Text: "q", Limit: 7})
	require.NoError(t, err)
	require.Len(t, answer.Hits, 3)
	require.Len(t, answer.Unresponsive, 1)
	require.Contains(t, answer.Unresponsive[0], "page 2: ")
}

func TestSearchDefersWhenTheGateIsClosed(t *testing.T) {
	t.Parallel()
	client, gate := serve(t, func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, results(1, 3)) })
	closed := &fault.Deferral{Until: time.Now().Add(time.Minute), Limit: "search:x"}
	gate.refuse = func(int32) error { return closed }
	_, err := client.Search(t.Context(), Query{Text: "q", Limit: 7})
	require.ErrorIs(t, err, closed)

	gate.refuse = func(entry int32) error {
		if entry == 3 {
			return closed
		}
		return nil
	}
	answer, err := client.Search(t.Context(), Query{Text: "q", Limit: 7})
	require.NoError(t, err, "a page that was read is not thrown away")
	require.Len(t, answer.Hits, 3)
}

func TestSearchFaults(t *testing.T) {
	t.Parallel()
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	cases := map[string]struct {
		handle    http.HandlerFunc
		code      fault.Code
		retryable bool
		message   string
	}{
		"json off":   {status(403), fault.Misconfigured, false, "add json to search.formats in its settings.yml"},
		"login":      {status(401), fault.Misconfigured, false, "FATHOM_SEARXNG_URL"},
		"not there":  {status(404), fault.Misconfigured, false, "check FATHOM_SEARXNG_URL"},
		"bad option": {status(400), fault.Malformed, false, "400"},
		"limited":    {status(429), fault.RateLimited, true, "429"},
		"broken":     {status(500), fault.Unavailable, true, "500"},
		"overloaded": {status(503), fault.Unavailable, true, "503"},
		"slow proxy": {status(504), fault.TimedOut, true, "504"},
		"html": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, "<!doctype html><title>hello</title>")
		}, fault.Unreadable, true, "text/html instead of JSON"},
		"cut JSON": {func(w http.ResponseWriter, _ *http.Request) {
			answerJSON(w, `{"results":[{"url":"https://exam`)
		}, fault.Unreadable, true, "broken JSON"},
		"other JSON": {func(w http.ResponseWriter, _ *http.Request) {
			answerJSON(w, `{"status":"ok"}`)
		}, fault.Unreadable, true, "no results field"},
		"deep JSON": {func(w http.ResponseWriter, _ *http.Request) {
			answerJSON(w, `{"results":[`+strings.Repeat("[", 100_000)+`]}`)
		}, fault.Unreadable, true, "broken JSON"},
		"huge": {func(w http.ResponseWriter, _ *http.Request) {
			answerJSON(w, `{"results":[], "x":"`+strings.Repeat("a", maxBody)+`"}`)
		}, fault.TooLarge, false, "MiB"},
		"cut body": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"results":`)
		}, fault.Unavailable, true, "ask SearXNG"},
		"reset": {func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, fault.Unavailable, true, "ask SearXNG"},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://other.invalid/", http.StatusFound)
		}, fault.Misconfigured, false, "redirects to another host"},
		"all engines silent": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/searx/config" {
				answerJSON(w, `{"engines":[{"name":"a","categories":["general"],"enabled":true},{"name":"off","categories":["general"],"enabled":false},{"name":"pics","categories":["images"],"enabled":true}]}`)
				return
			}
			answerJSON(w, `{"results":[],"unresponsive_engines":[["a","timeout"]]}`)
		}, fault.Unavailable, true, "a: timeout"},
		"silent, unknown of whom": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/searx/config" {
				http.NotFound(w, r)
				return
			}
			answerJSON(w, `{"results":[],"unresponsive_engines":[["a","timeout"]]}`)
		}, fault.Unavailable, true, "no engine"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, _ := serve(t, c.handle)
			_, err := client.Search(t.Context(), Query{Text: "secret words", Limit: 7})
			require.Error(t, err)
			failure := fault.As(err)
			require.Equal(t, c.code, failure.Code, failure.Message)
			require.Equal(t, c.retryable, failure.Retryable)
			require.Contains(t, failure.Message, c.message)
			require.NotContains(t, failure.Message, "secret")
		})
	}
}

func TestSilenceOfSomeEnginesIsNoFailure(t *testing.T) {
	t.Parallel()
	client, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/searx/config" {
			answerJSON(w, `{"engines":[{"name":"a","categories":["general"],"enabled":true},{"name":"b","categories":["general"],"enabled":true}]}`)
			return
		}
		answerJSON(w, `{"results":[],"unresponsive_engines":[["a","timeout"]]}`)
	})
	answer, err := client.Search(t.Context(), Query{Text: "q", Limit: 7})
	require.NoError(t, err)
	require.Empty(t, answer.Hits)
	require.Equal(t, []string{"a: timeout"}, answer.Unresponsive)
}

func TestRetryAfterIsToldToAllPods(t *testing.T) {
	t.Parallel()
	client, gate := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "90")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	before := time.Now()
	_, err := client.Search(t.Context(), Query{Text: "q", Limit: 7})
	require.Equal(t, 90*time.Second, fault.As(err).RetryAfter)
	require.GreaterOrEqual(t, gate.penalized.Load(), before.Add(89*time.Second).Unix())
}

func TestRetryAfterForms(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	require.Equal(t, 7*time.Second, retryAfter(" 7 ", now))
	require.Equal(t, time.Minute, retryAfter("Fri, 02 Jan 2026 03:05:05 GMT", now))
	require.Equal(t, maxRetryAfter, retryAfter("99999999999", now))
	require.Zero(t, retryAfter("-5", now))
	require.Zero(t, retryAfter("Fri, 02 Jan 2015 03:05:05 GMT", now))
	require.Zero(t, retryAfter("soon", now))
	require.Zero(t, retryAfter("", now))
}

func TestASlowAnswerTimesOutAndAStopDoesNot(t *testing.T) {
	t.Parallel()
	client, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	client.timeout = 50 * time.Millisecond
	_, err := client.Search(t.Context(), Query{Text: "q", Limit: 7})
	require.Equal(t, fault.TimedOut, fault.As(err).Code)
	require.True(t, fault.As(err).Retryable)

	client.timeout = time.Minute
	stopped, stop := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, stop)
	_, err = client.Search(stopped, Query{Text: "q", Limit: 7})
	require.ErrorIs(t, err, context.Canceled)
}

func TestNothingListens(t *testing.T) {
	t.Parallel()
	client, _ := serve(t, func(http.ResponseWriter, *http.Request) {})
	client.base, _ = url.Parse("http://user:secret@127.0.0.1:1/")
	_, err := client.Search(t.Context(), Query{Text: "q", Limit: 7})
	require.Equal(t, fault.Unavailable, fault.As(err).Code)
	require.NotContains(t, err.Error(), "secret")
}

func TestAQueryWithoutWordsIsMalformed(t *testing.T) {
	t.Parallel()
	client, gate := serve(t, func(http.ResponseWriter, *http.Request) {})
	_, err := client.Search(t.Context(), Query{Text: " !! \x00 ? ", Limit: 7})
	require.Equal(t, fault.Malformed, fault.As(err).Code)
	require.False(t, fault.As(err).Retryable)
	require.Zero(t, gate.entered.Load())
}

func FuzzDecodePage(f *testing.F) {
	f.Add([]byte(results(1, 2)), "application/json")
	f.Add([]byte(`{"results":[{"url":"x"},7],"unresponsive_engines":[["a",["b"]],{}]}`), "text/html")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		read, err := decodePage(body, contentType)
		if err != nil {
			require.NotEmpty(t, fault.As(err).Code)
			return
		}
		for _, hit := range read.hits {
			require.NotEmpty(t, hit.GetUrl())
		}
	})
}
