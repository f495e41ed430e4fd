package prompt

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fathom-research/fathom/llm"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
)

// QueriesAnswer is the answer to Queries.
type QueriesAnswer struct {
	Queries []struct {
		Query     string `json:"query"`
		Objective string `json:"objective"`
	} `json:"queries"`
}

// QueriesInput is what Queries is made from.
type QueriesInput struct {
	Task    *workv1.QueriesTask
	Missing int
	// Kept are there already; Refused doubled another query.
	Kept, Refused []*workv1.PlannedQuery
	ContextTokens int
}

const queriesSystem = `You plan the web searches of a research. Each query is given to a search engine, and the pages that it finds are read for what its objective asks.

A good query:
- is what a skilled searcher types: 3 to 10 telling words, names and dates, no sentence, no operators, no quotation marks;
- can be understood without this conversation: it names what it is about in full;
- stands for another part or another angle than every other query: sides of a comparison, causes, figures, dates, critics, primary sources, counter-evidence;
- is in the language in which the best sources about it are written.

A good objective is one or two sentences that say which facts a reader shall look for on the pages, and how they serve the research prompt.

` + llm.Untrusted + `

Answer as JSON: {"queries": [{"query": "…", "objective": "…"}, …]}.`

const (
	rootTask = `Together the queries must cover the whole prompt, the most important part first.`

	childTask = `The last query of the path was searched, and what was found is given. Go deeper from there: look for what its findings leave open, contradict or name for the first time (people, organisations, places, terms, figures) as far as it serves the research prompt. Do not search again for what is known.`
)

// Queries asks for the queries of one level that are still missing.
func Queries(in QueriesInput) llm.Request {
	task := in.Task
	var b strings.Builder
	fmt.Fprintf(&b, "Research prompt: %s\n\n", llm.CutTokens(task.GetPrompt(), in.ContextTokens/4))
	clarifications(&b, task.GetClarifications())
	chain(&b, task.GetChain(), in.ContextTokens/3)
	list(&b, "Queries that exist already; yours must ask for something else:", taken(task, in.Kept))
	list(&b, "These were refused since they ask for the same as another one:", texts(in.Refused))
	instruction := rootTask
	if len(task.GetChain()) > 0 {
		instruction = childTask
	}
	fmt.Fprintf(&b, "Plan exactly %d %s. %s", in.Missing, plural(in.Missing, "query", "queries"), instruction)
	return llm.Request{
		Role: llm.Planner, System: queriesSystem, User: b.String(), Temperature: temperature,
		Schema: &llm.Schema{Name: "queries", Schema: json.RawMessage(fmt.Sprintf(
			`{"type":"object","properties":{"queries":{"type":"array","minItems":%d,"maxItems":%d,"items":{"type":"object","properties":{"query":{"type":"string"},"objective":{"type":"string"}},"required":["query","objective"],"additionalProperties":false}}},"required":["queries"],"additionalProperties":false}`,
			in.Missing, in.Missing))},
	}
}

func clarifications(b *strings.Builder, pairs []*workv1.Clarification) {
	if len(pairs) == 0 {
		return
	}
	b.WriteString("What the person answered when asked about it:\n")
	for _, pair := range pairs {
		answer := strings.TrimSpace(pair.GetAnswer())
		if answer == "" {
			answer = "(no preference)"
		}
		fmt.Fprintf(b, "- %s — %s\n", pair.GetQuestion(), llm.CutTokens(answer, 400))
	}
	b.WriteString("\n")
}

// taken lists the queries that exist: those of the same chain are shown with it.
func taken(task *workv1.QueriesTask, kept []*workv1.PlannedQuery) []string {
	shown := make(map[string]bool, len(task.GetChain()))
	for _, link := range task.GetChain() {
		shown[link.GetQuery()] = true
	}
	var others []string
	for _, text := range task.GetTaken() {
		if !shown[text] {
			others = append(others, text)
		}
	}
	return append(others, texts(kept)...)
}

func texts(queries []*workv1.PlannedQuery) []string {
	var list []string
	for _, query := range queries {
		list = append(list, query.GetText())
	}
	return list
}
