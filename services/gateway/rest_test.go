package gateway_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
)

func TestRecordHasTheNamesThatClientsKnow(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	id := b.create(t)
	asking := b.record(t, id)
	require.Nil(t, asking["report"])
	require.Contains(t, asking, "report")
	require.Equal(t, []any{}, asking["serp_queries"])

	b.start(t, id)
	record := b.record(t, id)
	require.Equal(t, "completed", record["status"])
	require.Equal(t, "Is water wet?", record["initial_prompt"])
	require.Equal(t, []any{"yes", ""}, record["followup_answers"])
	query := record["serp_queries"].([]any)[0].(map[string]any)
	require.Equal(t, []any{}, query["successful_scraped_websites"])
	require.Nil(t, query["parent_query_id"])
	require.Contains(t, query, "parent_query_id")
	websites := record["successful_scraped_websites"].([]any)
	require.Equal(t, "Water is wet.", websites[0].(map[string]any)["content"])
	require.Nil(t, websites[1].(map[string]any)["content"])
	require.Equal(t, "404", websites[1].(map[string]any)["error_message"])
	require.Equal(t, fakeReport, record["report"])
}

func (b *bundle) record(t *testing.T, id string) map[string]any {
	t.Helper()
	got := b.do(t, "GET", "/api/research/"+id, "")
	require.Equal(t, 200, got.status, got.body)
	var record map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.body), &record))
	return record
}

func TestControl(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.state.hold = true
	id := b.create(t)
	b.start(t, id)
	for _, step := range [][2]string{{"pause", "paused"}, {"resume", "running"}, {"cancel", "cancelled"}} {
		got := b.do(t, "POST", "/api/research/"+id+"/"+step[0], "")
		require.Equal(t, 200, got.status, got.body)
		require.JSONEq(t, `{"research_id":"`+id+`","status":"`+step[1]+`"}`, got.body)
	}
	list := b.do(t, "GET", "/api/research?page_size=10&status=cancelled", "")
	require.Contains(t, list.body, id)
	require.Equal(t, 200, b.do(t, "DELETE", "/api/research/"+id, "").status)
	require.Equal(t, 404, b.do(t, "GET", "/api/research/"+id, "").status)
	second := b.create(t)
	b.state.hold = false
	b.start(t, second)
	require.Equal(t, 409, b.do(t, "POST", "/api/research/"+second+"/cancel", "{}").status)
	again := b.do(t, "POST", "/api/research/start", `{"research_id":"`+second+`","followup_answers":["a","b"],"depth":1,"breadth":1}`)
	require.Equal(t, 409, again.status)
}

func TestIdempotencyKeyIsHandedOn(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	ask := func(prompt, key string) answer {
		return b.do(t, "POST", "/api/research/questions", `{"initial_prompt":"`+prompt+`","num_questions":1}`, "Idempotency-Key", key)
	}
	first, second := ask("a", "k1"), ask("a", "k1")
	require.Equal(t, 200, first.status)
	require.JSONEq(t, first.body, second.body)
	require.Equal(t, http.StatusUnprocessableEntity, ask("b", "k1").status)
	require.Equal(t, 200, ask("b", "k2").status)
	require.NotEqual(t, ask("c", "").body, ask("c", "").body)
	refused := ask("a", strings.Repeat("k", 256))
	require.Equal(t, 400, refused.status)
	_, message := refused.problem(t)
	require.Contains(t, message, "Idempotency-Key must be at most 255")
}

func TestACallThatStateLostIsRepeated(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	away := status.Error(codes.Unavailable, "restarting")
	b.state.fail = []error{away, away}
	b.create(t)
	b.state.fail = []error{away, away, away}
	got := b.do(t, "POST", "/api/research/questions", `{"initial_prompt":"x","num_questions":1}`)
	require.Equal(t, 503, got.status)
	require.Equal(t, "2", got.header.Get("Retry-After"))
}

func TestQuestionsThatTakeTooLongCanBeFetchedLater(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	late, err := status.New(codes.DeadlineExceeded, "the questions are not there yet").WithDetails(
		&errdetails.ErrorInfo{Reason: "QUESTIONS_PENDING", Metadata: map[string]string{"research_id": "research-9"}})
	require.NoError(t, err)
	b.state.fail = []error{late.Err()}
	got := b.do(t, "POST", "/api/research/questions", `{"initial_prompt":"x","num_questions":1}`)
	require.Equal(t, http.StatusGatewayTimeout, got.status)
	require.Regexp(t, `"research_id": ?"research-9"`, got.body)
}

func TestStateMayRestart(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	require.Equal(t, 200, b.do(t, "GET", "/readyz", "").status)
	b.stopState()
	require.Eventually(t, func() bool { return b.do(t, "GET", "/readyz", "").status == 503 }, 10*time.Second, 10*time.Millisecond)
	require.Equal(t, 200, b.do(t, "GET", "/livez", "").status)

	// A request that finds state away waits for it to come back.
	got := make(chan answer, 1)
	go func() { got <- b.do(t, "POST", "/api/research/questions", `{"initial_prompt":"x","num_questions":1}`) }()
	b.stopState, _ = serveState(t, b.state, b.stateAddr)
	require.Equal(t, 200, (<-got).status)
}

func TestNothingOfTheHeadersReachesStateByItself(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	got := b.do(t, "POST", "/api/research/questions", `{"initial_prompt":"x","num_questions":1}`,
		"Grpc-Metadata-Tenant", "other", "Tenant", "other", "X-Fathom-Tenant", "other", "Authorization", "Bearer x",
		"Grpc-Timeout", "1n", "X-Request-Id", "from-outside-1")
	require.Equal(t, 200, got.status, got.body)
	for name := range b.state.seen {
		require.NotContains(t, name, "tenant")
		require.NotEqual(t, "authorization", name)
	}
	require.Equal(t, []string{"from-outside-1"}, b.state.seen.Get("x-request-id"))
	require.Equal(t, "from-outside-1", got.header.Get("X-Request-Id"))
	made := b.do(t, "GET", "/api/research", "", "X-Request-Id", "not fit for a log\t")
	require.Regexp(t, "^[0-9a-f]{32}$", made.header.Get("X-Request-Id"))
}

func TestTheTraceReachesState(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	const trace = "0123456789abcdef0123456789abcdef"
	b.do(t, "POST", "/api/research/questions", `{"initial_prompt":"x","num_questions":1}`, "Traceparent", "00-"+trace+"-0123456789abcdef-01")
	require.Contains(t, b.state.seen.Get("traceparent")[0], trace)
	require.Eventually(t, func() bool {
		for _, span := range spans.Ended() {
			if span.SpanContext().TraceID().String() == trace && span.Name() == "POST /api/research/questions" {
				return true
			}
		}
		return false
	}, 5*time.Second, 10*time.Millisecond)
}

func TestOtherWebsitesMayNotChangeAnything(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	body := `{"initial_prompt":"x","num_questions":1}`
	got := b.do(t, "POST", "/api/research/questions", body, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example")
	require.Equal(t, http.StatusForbidden, got.status)
	got.problem(t)
	got = b.do(t, "POST", "/api/research/questions", body, "Origin", "https://evil.example", "Content-Type", "text/plain")
	require.Equal(t, http.StatusForbidden, got.status)
	got = b.do(t, "POST", "/api/research/questions", body, "Sec-Fetch-Site", "same-origin", "Origin", b.url)
	require.Equal(t, 200, got.status)
	require.Empty(t, got.header.Get("Access-Control-Allow-Origin"))
}

func TestHead(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	id := b.create(t)
	b.start(t, id)
	for _, path := range []string{"/api/research/" + id, "/api/research", "/api/research/" + id + "/report", "/api/research/" + id + "/events", "/", "/openapi.json"} {
		got := b.do(t, "HEAD", path, "")
		require.Equal(t, 200, got.status, path)
		require.Empty(t, got.body, path)
	}
}

func TestALargeRecordPasses(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	id := b.create(t)
	b.state.mu.Lock()
	record := b.state.researches[id].record
	for range 64 {
		record.SuccessfulScrapedWebsites = append(record.SuccessfulScrapedWebsites,
			&researchv1.Website{Url: "https://example.org/", Content: wrapperspb.String(strings.Repeat("word ", 1<<20/5))})
	}
	b.state.mu.Unlock()
	got := b.do(t, "GET", "/api/research/"+id, "")
	require.Equal(t, 200, got.status)
	require.Greater(t, len(got.body), 63<<20)
	require.True(t, json.Valid([]byte(got.body)))
}

func TestReportForms(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	id := b.create(t)
	notYet := b.do(t, "GET", "/api/research/"+id+"/report", "")
	require.Equal(t, 404, notYet.status)
	b.start(t, id)
	path := "/api/research/" + id + "/report"
	for accept, want := range map[string]string{
		"":                                   "text/markdown; charset=utf-8",
		"*/*":                                "text/markdown; charset=utf-8",
		"text/*":                             "text/markdown; charset=utf-8",
		"image/png":                          "text/markdown; charset=utf-8",
		"application/json":                   "application/json",
		"text/html":                          "text/html; charset=utf-8",
		"text/html;q=0.5, application/json":  "application/json",
		"text/markdown;q=0, text/html;q=0.1": "text/html; charset=utf-8",
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": "text/html; charset=utf-8",
		";;;,text/html;q=x": "text/html; charset=utf-8",
	} {
		got := b.do(t, "GET", path, "", "Accept", accept)
		require.Equal(t, 200, got.status)
		require.Equal(t, want, got.header.Get("Content-Type"), accept)
		require.Equal(t, "Accept", got.header.Get("Vary"))
	}
	require.Equal(t, fakeReport, b.do(t, "GET", path, "").body)

	page := b.do(t, "GET", path, "", "Accept", "text/html")
	require.Contains(t, page.header.Get("Content-Security-Policy"), "default-src 'none'")
	require.Contains(t, page.body, `<h1 id="findings">Findings</h1>`)
	require.Contains(t, page.body, "<td>1</td>")
	require.Contains(t, page.body, `<a href="https://example.org/water">`)
	require.NotContains(t, page.body, "<script")
	require.NotContains(t, page.body, "javascript:")

	var report struct {
		Markdown  string
		Citations []struct{ URL string }
	}
	require.NoError(t, json.Unmarshal([]byte(b.do(t, "GET", path, "", "Accept", "application/json").body), &report))
	require.Equal(t, "https://example.org/water", report.Citations[0].URL)

	output := b.do(t, "GET", "/api/research/"+id+"/error-output", "")
	require.Equal(t, "text/markdown; charset=utf-8", output.header.Get("Content-Type"))
	require.Equal(t, "# Error output\n", output.body)
}

func TestSnapshotIsADownloadThatCanDoNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	path := "/api/research/" + b.create(t) + "/snapshot"
	got := b.do(t, "GET", path+"?url=https%3A%2F%2Fexample.org%2Fwater%3Fa%3D1%26b%3D2", "")
	require.Equal(t, 200, got.status)
	require.Equal(t, "<script>alert(1)</script>", got.body)
	require.Equal(t, "text/html", got.header.Get("Content-Type"))
	require.Equal(t, "sandbox; default-src 'none'; frame-ancestors 'none'", got.header.Get("Content-Security-Policy"))
	require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))
	require.Equal(t, "attachment; filename=snapshot", got.header.Get("Content-Disposition"))
	require.Equal(t, "Fri, 02 Jan 2026 03:04:05 GMT", got.header.Get("Last-Modified"))
	for query, want := range map[string]int{"": 400, "?url=": 400, "?url=https%3A%2F%2Felsewhere.org": 404, "?url=a&other=b": 400, "?url=a%00": 400} {
		require.Equal(t, want, b.do(t, "GET", path+query, "").status, query)
	}
	require.Equal(t, 404, b.do(t, "GET", "/api/research/nobody/snapshot?url=x", "").status)
}

func TestThePageLoadsOnlyItsOwnFiles(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	page := b.do(t, "GET", "/", "")
	require.Equal(t, 200, page.status)
	require.Contains(t, page.header.Get("Content-Security-Policy"), "script-src 'self'")
	require.NotContains(t, page.body, "http://")
	require.NotContains(t, page.body, "https://")
	require.NotContains(t, page.body, " style=")
	require.NotRegexp(t, `<script>| on[a-z]+=`, page.body)
	for _, name := range []string{"page.js", "page.css", "report.css", "icon.svg"} {
		got := b.do(t, "GET", "/assets/"+name, "")
		require.Equal(t, 200, got.status, name)
		require.NotEmpty(t, got.body, name)
	}
	require.Equal(t, 404, b.do(t, "GET", "/assets/none.js", "").status)
	require.Equal(t, 404, b.do(t, "GET", "/assets/", "").status)
	require.Equal(t, "up 1\n", b.do(t, "GET", "/metrics", "").body)
}

func TestTheDescriptionIsWhole(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	got := b.do(t, "GET", "/openapi.json", "")
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	var document struct {
		Swagger     string
		Paths       map[string]map[string]any
		Definitions map[string]any
	}
	require.NoError(t, json.Unmarshal([]byte(got.body), &document))
	require.Equal(t, "2.0", document.Swagger)
	for path, methods := range map[string][]string{
		"/api/research": {"get"}, "/api/research/questions": {"post"}, "/api/research/start": {"post"},
		"/api/research/{research_id}": {"get", "delete"}, "/api/research/{research_id}/cancel": {"post"},
		"/api/research/{research_id}/pause": {"post"}, "/api/research/{research_id}/resume": {"post"},
		"/api/research/{research_id}/report": {"get"}, "/api/research/{research_id}/events": {"get"},
		"/api/research/{research_id}/error-output": {"get"}, "/api/research/{research_id}/snapshot": {"get"}, "/openapi.json": {"get"},
		"/livez": {"get"}, "/readyz": {"get"}, "/metrics": {"get"},
	} {
		for _, method := range methods {
			require.Contains(t, document.Paths[path], method, path)
		}
	}
	for _, part := range strings.Split(got.body, `"#/definitions/`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		require.Contains(t, document.Definitions, name)
	}
	require.NotContains(t, got.body, "idempotency_key")
	require.Contains(t, got.body, "Idempotency-Key")
}
