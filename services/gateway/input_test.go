package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBadInput(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	id := b.create(t)
	type bad struct{ body, message string }
	var questions, start []bad

	for _, value := range []string{"", "0", "-1", "2147483648", "-2147483649", "1.5", `"x"`, `"5"`, "true", "[]", "{}", "null", "1e400", strings.Repeat("9", 5000)} {
		field := func(name string) string {
			if value == "" {
				return ""
			}
			return fmt.Sprintf(`,"%s":%s`, name, value)
		}
		questions = append(questions, bad{`{"initial_prompt":"x"` + field("num_questions") + `}`, "Number of questions must be a positive integer"})
		start = append(start,
			bad{`{"research_id":"` + id + `","breadth":2,"followup_answers":["a","b"]` + field("depth") + `}`, "Depth must be a positive integer"},
			bad{`{"research_id":"` + id + `","depth":2,"followup_answers":["a","b"]` + field("breadth") + `}`, "Breadth must be a positive integer"})
	}
	questions = append(questions,
		bad{"", "Initial prompt cannot be empty"},
		bad{"{}", "Initial prompt cannot be empty"},
		bad{`{"initial_prompt":"  ","num_questions":1}`, "Initial prompt cannot be empty"},
		bad{`{"initial_prompt":null,"num_questions":1}`, "Initial prompt cannot be empty"},
		bad{`{"initial_prompt":7,"num_questions":1}`, "Initial prompt must be a string"},
		bad{`{"initial_prompt":["x"],"num_questions":1}`, "Initial prompt must be a string"},
		bad{`{"initial_prompt":"` + strings.Repeat("x", 1<<20) + `","num_questions":1}`, "Initial prompt must be at most 32768 bytes"},
		bad{`{"initial_prompt":"a\u0000b","num_questions":1}`, "Initial prompt must not contain NUL characters"},
		bad{"{\"initial_prompt\":\"a\x00b\",\"num_questions\":1}", "Initial prompt is broken JSON"},
		bad{"{\"initial_prompt\":\"a\xffb\",\"num_questions\":1}", "Initial prompt must be valid UTF-8"},
		bad{`{"initial_prompt":"a\ud800b","num_questions":1}`, "Initial prompt must be valid Unicode"},
		bad{`{"initial_prompt":"a\udc00\ud800","num_questions":1}`, "Initial prompt must be valid Unicode"},
		bad{`{"initial_prompt":"x","num_questions":1`, "broken JSON: it ends too early"},
		bad{`{"initial_prompt":"x`, "Initial prompt is broken JSON: it ends too early"},
		bad{`{"initial_prompt":"x",}`, "broken JSON"},
		bad{`{initial_prompt:"x"}`, "broken JSON"},
		bad{`[]`, "The body must be a JSON object"},
		bad{`"x"`, "The body must be a JSON object"},
		bad{`null`, "The body must be a JSON object"},
		bad{`{"initial_prompt":"x","num_questions":1} {}`, "nothing after it"},
		bad{`{"initial_prompt":"x","num_questions":1,"num_questions":2}`, "Number of questions is given twice"},
		bad{`{"initial_prompt":"x","num_questions":1,"colour":"red"}`, `Unknown field "colour"`},
		bad{`{"initialPrompt":"x"}`, `Unknown field "initialPrompt"`},
		bad{`{"idempotency_key":"x"}`, `Unknown field "idempotency_key"`},
		bad{`{"` + strings.Repeat("n", 100_000) + `":1}`, "Unknown field"},
		bad{"{\"\xff\":1}", "Unknown field"},
		bad{`{"initial_prompt":` + strings.Repeat("[", 100_000) + `}`, "Initial prompt is broken JSON"},
		bad{`{"initial_prompt":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, "Initial prompt must be a string"},
		bad{strings.Repeat(`{"a":`, 100_000), "Unknown field"},
		bad{strings.Repeat("[", 100_000), "The body must be a JSON object"},
	)
	valid := `{"research_id":"` + id + `","depth":2,"breadth":2,"followup_answers":["a","b"]`
	start = append(start,
		bad{`{"depth":1,"breadth":1}`, "research_id"},
		bad{`{"research_id":"nobody","depth":1,"breadth":1}`, "research_id"},
		bad{`{"research_id":7}`, "research_id must be a string"},
		bad{`{"research_id":"` + id + `","depth":1,"breadth":1}`, "Number of answers must match number of questions"},
		bad{`{"research_id":"` + id + `","depth":1,"breadth":1,"followup_answers":["a"]}`, "Number of answers must match number of questions"},
		bad{`{"research_id":"` + id + `","followup_answers":"yes"}`, "Follow-up answers must be a list of strings"},
		bad{`{"research_id":"` + id + `","followup_answers":[null]}`, "Follow-up answers must be a list of strings: entry 1 is null"},
		bad{`{"research_id":"` + id + `","followup_answers":["a",7]}`, "Follow-up answers [1] must be a string"},
		bad{`{"research_id":"` + id + `","followup_answers":["a\u0000"]}`, "Follow-up answers [0] must not contain NUL"},
		bad{`{"research_id":"` + id + `","followup_questions":[{}]}`, "Follow-up questions [0] must be a string"},
		bad{valid + `,"initial_prompt":"another"}`, "Initial prompt differs"},
		bad{valid + `,"search":[]}`, "search must be a JSON object"},
		bad{valid + `,"search":{"language":5}}`, "search.language must be a string"},
		bad{valid + `,"search":{"engine":"x"}}`, `Unknown field "search.engine"`},
		bad{valid + `,"search":{"safe_search":"x"}}`, "search.safe_search must be an integer"},
		bad{valid + `,"budget":{"cost_usd":"x"}}`, "budget.cost_usd must be a number"},
		bad{valid + `,"budget":{"cost_usd":1e999}}`, "budget.cost_usd must be a number"},
		bad{valid + `,"budget":{"model_tokens":1.5}}`, "budget.model_tokens must be an integer"},
		bad{valid + `,"budget":{"model_tokens":9223372036854775808}}`, "budget.model_tokens must be an integer"},
		bad{valid + `,"report_words":2147483648}`, "report_words must be an integer"},
		bad{valid + `,"validate_only":"yes"}`, "validate_only must be true or false"},
		bad{valid + `,"validate_only":1}`, "validate_only must be true or false"},
	)
	for path, cases := range map[string][]bad{"/api/research/questions": questions, "/api/research/start": start} {
		for _, c := range cases {
			got := b.do(t, "POST", path, c.body)
			shown := c.body[:min(len(c.body), 120)]
			require.Equal(t, 400, got.status, "%s %q: %s", path, shown, got.body)
			code, message := got.problem(t)
			require.Equal(t, 3, code)
			require.Contains(t, message, c.message, "%s %q", path, shown)
		}
	}
	require.Len(t, b.state.order, 1, "nothing is stored by a refused request")
}

func TestIntegersMayBeWrittenAsJSONAllows(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for _, number := range []string{"2", "2.0", "2e0", "0.2e1"} {
		got := b.do(t, "POST", "/api/research/questions", `{"initial_prompt":"x \ud83d\ude00 \ufffd \\u0000","num_questions":`+number+`}`)
		require.Equal(t, 200, got.status, got.body)
	}
}

func TestOversizedBodyIsRefusedBeforeDecoding(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	got := b.do(t, "POST", "/api/research/questions", `{"initial_prompt":"`+strings.Repeat("x", 3<<20)+`"}`)
	require.Equal(t, http.StatusRequestEntityTooLarge, got.status)
	_, message := got.problem(t)
	require.Equal(t, "The body must be at most 2097152 bytes", message)
}

func TestBadAddresses(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for path, want := range map[string]struct {
		status  int
		message string
	}{
		"/api/research/nobody":                                   {404, "no such research"},
		"/api/research/a%2Fb":                                    {404, ""},
		"/api/research/a%00b":                                    {400, "research_id must not contain NUL"},
		"/api/research/a%ffb":                                    {400, "research_id must be valid UTF-8"},
		"/api/research/a%ffb/report":                             {400, "research_id must be valid UTF-8"},
		"/api/research/a%00b/events":                             {400, "research_id must not contain NUL"},
		"/api/research/a%00b/error-output":                       {400, "research_id must not contain NUL"},
		"/api/research/nobody/report":                            {404, "no such research"},
		"/api/research/nobody/events":                            {404, "no such research"},
		"/api/research/nobody/error-output":                      {404, "no such research"},
		"/api/research/nobody/other":                             {404, "nothing at this address"},
		"/api/research/":                                         {404, "nothing at this address"},
		"/api":                                                   {404, "nothing at this address"},
		"/api/research?page_size=x":                              {400, "page_size must be an integer from 1 to 1000"},
		"/api/research?page_size=2147483648":                     {400, "page_size must be an integer from 1 to 1000"},
		"/api/research?page_size=-1":                             {400, "page_size must be an integer from 1 to 1000"},
		"/api/research?page_size=0":                              {400, "page_size must be an integer from 1 to 1000"},
		"/api/research?page_size=1&page_size=2":                  {400, "page_size is given twice"},
		"/api/research?colour=red":                               {400, `Unknown parameter "colour"`},
		"/api/research?status=%00":                               {400, "status must not contain NUL"},
		"/api/research?status=%ff":                               {400, "status must be valid UTF-8"},
		"/api/research?%ff=1":                                    {400, "Unknown parameter"},
		"/api/research?status=%zz":                               {400, "can't be read"},
		"/api/research/nobody/events?last_event_id=x":            {400, "last_event_id must be an integer"},
		"/api/research/nobody/events?last_event_id=-1":           {400, "last_event_id must be an integer"},
		"/api/research/nobody/report?format=html":                {400, "Unknown parameter"},
		"/api/research/nobody?research_id=x":                     {400, "Unknown parameter"},
		"/api/research/nobody?view=" + strings.Repeat("x", 9000): {404, "no such research"},
	} {
		got := b.do(t, "GET", path, "")
		require.Equal(t, want.status, got.status, "%s: %s", path, got.body)
		_, message := got.problem(t)
		require.Contains(t, message, want.message, path)
	}
	for _, path := range []string{"cancel", "pause", "resume"} {
		got := b.do(t, "POST", "/api/research/a%ffb/"+path, "")
		require.Equal(t, 400, got.status)
		got = b.do(t, "POST", "/api/research/nobody/"+path, `{"research_id":"x"}`)
		require.Equal(t, 400, got.status)
		got = b.do(t, "POST", "/api/research/nobody/"+path, "")
		require.Equal(t, 404, got.status)
	}
	require.Equal(t, 404, b.do(t, "DELETE", "/api/research/nobody", "").status)
}

func TestMethodsAreRefusedInJSON(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for path, allow := range map[string]string{
		"/api/research/x/report": "GET, HEAD",
		"/api/research/x/cancel": "POST",
		"/":                      "GET, HEAD",
		"/openapi.json":          "GET, HEAD",
	} {
		got := b.do(t, "PUT", path, "")
		require.Equal(t, http.StatusMethodNotAllowed, got.status, path)
		require.Equal(t, allow, got.header.Get("Allow"), path)
		got.problem(t)
	}
}

func TestErrorsHaveTheStatusThatFits(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for name, want := range map[string]int{
		"INVALID_ARGUMENT": 400, "NOT_FOUND": 404, "FAILED_PRECONDITION": 409, "ALREADY_EXISTS": 409, "ABORTED": 409,
		"DEADLINE_EXCEEDED": 504, "UNAVAILABLE": 503, "RESOURCE_EXHAUSTED": 429, "UNIMPLEMENTED": 501,
		"INTERNAL": 500, "UNKNOWN": 500, "PERMISSION_DENIED": 403, "UNAUTHENTICATED": 401,
	} {
		got := b.do(t, "GET", "/api/research/fail-"+name, "")
		require.Equal(t, want, got.status, name)
		_, message := got.problem(t)
		if want == 500 {
			require.NotContains(t, message, "as asked", "what only operators may know is not sent")
		}
	}
}

func FuzzBodies(f *testing.F) {
	b := setup(f, nil)
	for _, seed := range []string{
		`{"initial_prompt":"x","num_questions":1}`, `{"initial_prompt":"\ud800","num_questions":1e400}`, "{\"a\xff\":[[[",
		`{"research_id":"research-1","depth":2,"breadth":2,"search":{"language":"en"},"budget":{"cost_usd":1,"model_tokens":"5"}}`,
		`{"followup_answers":["a",null,7],"budget":{"model_tokens":"\"5"}}`, `{"research_id":"\u0000"}`, `null`, "",
	} {
		f.Add([]byte(seed), "key", "page_size=1")
	}
	f.Fuzz(func(t *testing.T, body []byte, key, query string) {
		if strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			key = ""
		}
		if strings.ContainsAny(query, "#") || strings.ContainsFunc(query, func(r rune) bool { return r <= ' ' || r > '~' }) {
			query = ""
		}
		for _, path := range []string{"/api/research/questions", "/api/research/start", "/api/research/x/cancel"} {
			got := b.do(t, "POST", path, string(body), "Idempotency-Key", key)
			require.Less(t, got.status, 500, "%s %q: %s", path, body, got.body)
			require.True(t, got.status == 200 || got.status == 400 || got.status == 404 || got.status == 409 || got.status == 413 || got.status == 422, got.status)
		}
		got := b.do(t, "GET", "/api/research?"+query, "")
		require.Less(t, got.status, 500, "%q: %s", query, got.body)
	})
}
