package ladder

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/platform/fault"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/scraper/internal/extract"
	"github.com/fathom-research/fathom/services/scraper/internal/fetch"
)

func TestNeedsScripts(t *testing.T) {
	t.Parallel()
	menu := "<nav>" + strings.Repeat("<a href=/x>A link of the menu</a> ", 40) + "</nav>"
	prose := strings.Repeat("<p>The lighthouse on the cape was built in 1871 by the harbour board.</p>", 60)
	for name, c := range map[string]struct {
		html  string
		needs bool
	}{
		"a page":                     {"<main>" + prose + "</main><script src=a.js></script>", false},
		"a short page, no scripts":   {"<p>Closed on Mondays.", false},
		"an empty page with scripts": {"<body><script src=app.js></script>", true},
		"an empty root":              {menu + "<div id=root></div><script src=app.js></script>", true},
		"a root with a spinner":      {menu + "<div id=app><div><i></i>Loading…</div></div><script src=app.js></script>", true},
		"a filled root":              {"<div id=__next>" + prose + "</div><script src=app.js></script>", false},
		"a custom element":           {menu + "<app-root></app-root><script src=app.js></script>", true},
		"an empty main":              {menu + "<main><div></div></main><script src=app.js></script>", true},
		"it asks for scripts":        {menu + "<noscript>You need to enable JavaScript to run this app.</noscript><script src=app.js></script>", true},
		"it thanks for scripts":      {prose + "<noscript>Enable JavaScript for comments.</noscript><script src=app.js></script>", false},
		"data is no script":          {"<p>Short.<script type=application/ld+json>{}</script>", false},
		"nested roots":               {menu + "<div id=app><div></div><div>" + prose + "</div></div><script src=a.js></script>", false},
		"unclosed":                   {"<div id=root><script src=a.js>", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needs, why := NeedsScripts([]byte(c.html))
			require.Equal(t, c.needs, needs, why)
			require.Equal(t, needs, why != "")
		})
	}
}

func TestWalls(t *testing.T) {
	t.Parallel()
	article := strings.Repeat("<p>An article that explains why sites say: checking your browser, verify you are human.</p>", 40)
	for name, c := range map[string]struct {
		status int
		header http.Header
		html   string
		want   string
	}{
		"a header":               {403, http.Header{"Cf-Mitigated": {"challenge"}}, article, "Cloudflare"},
		"a title":                {503, nil, "<title>Just a moment...</title><p>Please wait", "it says just a moment..."},
		"a script":               {200, nil, "<script src=https://geo.captcha-delivery.com/c.js></script>", "DataDome"},
		"a bare refusal":         {403, nil, "<h1>Forbidden</h1>", bareRefusal},
		"an article about walls": {200, nil, article, ""},
		"not found":              {404, nil, "<h1>Not found</h1>", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, wall(c.status, c.header, []byte(c.html), outlineOf([]byte(c.html))))
		})
	}
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"0;url=/next": "https://example.org/next", "3; URL='https://example.com/'": "https://example.com/", "0, url=a": "https://example.org/dir/a",
		"60;url=/next": "", "5": "", "0;url=https://example.org/dir/page": "", "x;url=/a": "", "0;url=http://%zz": "",
	} {
		o := outlineOf([]byte(`<meta http-equiv="Refresh" content="` + content + `">`))
		require.Equal(t, want, o.refreshTarget("https://example.org/dir/page"), content)
	}
}

func TestClimbs(t *testing.T) {
	t.Parallel()
	prose := "<title>Cape</title><article><h1>Cape</h1>" + strings.Repeat("<p>The lighthouse on the northern cape was built in 1871 by the harbour board, after ships had been lost.</p>", 30) + "</article>"
	shell := "<div id=root></div><script src=a.js></script>"
	wallPage := "<title>Just a moment...</title><script src=a.js></script>"
	down := fault.Transient(fault.Unavailable, "down")
	for name, c := range map[string]struct {
		mode          Mode
		plain, chrome answer
		rung, why     string
		code          fault.Code
	}{
		"plain is enough":              {Auto, page(prose), never, HTTP, "", ""},
		"a shell":                      {Auto, page(shell), page(prose), Chrome, "only 0 letters without scripts", ""},
		"a wall that opens":            {Auto, answer{status: 503, body: wallPage}, page(prose), Chrome, "bot wall: it says just a moment...", ""},
		"a wall that stays":            {Auto, answer{status: 403, body: wallPage}, answer{status: 403, body: wallPage}, "", "", fault.Blocked},
		"a bare refusal stays":         {Auto, answer{status: 403, body: "no"}, answer{status: 403, body: "no"}, "", "", fault.Blocked},
		"a dropped connection":         {Auto, answer{err: fault.Transient(fault.Unavailable, "the connection failed: %w", io.EOF)}, page(prose), Chrome, "the connection was dropped", ""},
		"dropped twice":                {Auto, answer{err: fault.Transient(fault.Unavailable, "the connection failed: %w", io.EOF)}, answer{err: down}, "", "", fault.Unavailable},
		"not found":                    {Auto, answer{status: 404, body: "no"}, never, "", "", fault.NotFound},
		"too many requests":            {Auto, answer{status: 429, body: "no"}, never, "", "", fault.RateLimited},
		"another failure":              {Auto, answer{err: fault.Permanent(fault.RefusedAddress, "private")}, never, "", "", fault.RefusedAddress},
		"the browser fails on a shell": {Auto, page("<p>A short note with some words in it, which is all there is to read.<script src=a.js></script>"), answer{err: down}, HTTP, "the browser failed: down", ""},
		"only chrome":                  {OnlyChrome, never, page(prose), Chrome, "FATHOM_SCRAPER_MODE is chrome", ""},
		"only http":                    {OnlyHTTP, page(prose), never, HTTP, "", ""},
		"only http, a wall":            {OnlyHTTP, answer{status: 200, body: wallPage}, never, "", "", fault.Blocked},
		"chrome shows no document":     {OnlyChrome, answer{status: 200, body: "The plain text of a file that is long enough to be read.", media: "text/plain"}, answer{err: &fetch.NotAPage{ContentType: "text/plain"}}, HTTP, `type "text/plain" is not shown by a browser`, ""},
		"chrome gets an error":         {OnlyChrome, never, answer{status: 500, body: "no"}, "", "", fault.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := New(c.mode, fetcher{t, c.plain}, fetcher{t, c.chrome}, readText, slog.New(slog.DiscardHandler))
			reading, err := l.Read(t.Context(), "https://example.org/page")
			if c.code != "" {
				require.Error(t, err)
				require.Equal(t, c.code, fault.As(err).Code, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.rung, reading.Page.GetRung())
			require.Equal(t, c.why, reading.Page.GetRungReason())
			require.NotEmpty(t, reading.Page.GetText())
			require.NotEmpty(t, reading.Body)
		})
	}
}

func TestPagesThatReferToOneAnotherEnd(t *testing.T) {
	t.Parallel()
	l := New(Auto, fetchFunc(func(_ context.Context, address string) (*fetch.Response, error) {
		next := "/a"
		if strings.HasSuffix(address, "/a") {
			next = "/b"
		}
		return response(page(`<meta http-equiv=refresh content="0;url=`+next+`">`), address), nil
	}), nil, readText, slog.New(slog.DiscardHandler))
	_, err := l.Read(t.Context(), "https://example.org/a")
	require.Equal(t, fault.Unavailable, fault.As(err).Code)
}

func FuzzOutline(f *testing.F) {
	f.Add([]byte("<div id=root><div><main></main></div><script>x</script>"))
	f.Add([]byte("<title>a<noscript><meta http-equiv=refresh content='0;url=x'>"))
	f.Fuzz(func(_ *testing.T, body []byte) {
		o := outlineOf(body)
		o.needsScripts()
		o.refreshTarget("https://example.org/")
		wall(200, nil, body, o)
	})
}

type answer struct {
	status      int
	body, media string
	err         error
}

// never is an answer that must not be asked for.
var never = answer{err: errors.New("asked for what was not needed")}

func page(body string) answer { return answer{status: 200, body: body} }

type fetcher struct {
	t      *testing.T
	answer answer
}

func (f fetcher) Get(_ context.Context, address string) (*fetch.Response, error) {
	if f.answer == never {
		f.t.Error(never.err)
	}
	if f.answer.err != nil {
		return nil, f.answer.err
	}
	return response(f.answer, address), nil
}

// readText stands in for the extraction: the text is what is not in tags.
func readText(document extract.Document) (*workv1.Page, error) {
	text := strings.TrimSpace(outlineOf(document.Body).text)
	if text == "" {
		return nil, fault.Permanent(fault.Empty, "no text")
	}
	return &workv1.Page{Text: text}, nil
}

type fetchFunc func(ctx context.Context, address string) (*fetch.Response, error)

func (f fetchFunc) Get(ctx context.Context, address string) (*fetch.Response, error) {
	return f(ctx, address)
}

func response(a answer, address string) *fetch.Response {
	if a.media == "" {
		a.media = "text/html; charset=utf-8"
	}
	return &fetch.Response{FinalURL: address, Status: a.status, Header: http.Header{"Content-Type": {a.media}}, Body: []byte(a.body)}
}
