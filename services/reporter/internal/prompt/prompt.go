// Package prompt holds what the reporter says to a model.
package prompt

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/fathom-research/fathom/llm"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/reporter/internal/evidence"
)

// temperature leaves the wording a little freedom: at 0 small models repeat themselves.
const temperature = 0.2

const rules = `Rules for every sentence:
- It states what its evidence states, and nothing else: no knowledge of your own, no conclusion that is not in the evidence, no sentence about the report itself.
- It stays close to the words of the evidence. Figures, dates, units, names and conditions are exactly those of the evidence. It is written in the language of its evidence.
- Who says it is named when it is an opinion, an estimate or a forecast. Where pieces of evidence contradict each other, both are told.
- "sources" are the numbers of the evidence that states it: as few as bear all of it.
- It has no citation marks, no links and no Markdown in its text.`

const sentencesSchema = `{"type":"array","items":{"type":"object","properties":{"sentence":{"type":"string"},"sources":{"type":"array","items":{"type":"integer","minimum":1}}},"required":["sentence","sources"],"additionalProperties":false}}`

// Sentence is a sentence as the model gives it.
type Sentence struct {
	Sentence string `json:"sentence"`
	Sources  []int  `json:"sources"`
}

// goal is how each prompt begins.
func goal(b *strings.Builder, task *workv1.ReportTask, tokens int) {
	fmt.Fprintf(b, "Research prompt: %s\n\n", llm.CutTokens(task.GetPrompt(), tokens))
	if len(task.GetClarifications()) == 0 {
		return
	}
	b.WriteString("What the person answered when asked about it:\n")
	for _, pair := range task.GetClarifications() {
		answer := strings.TrimSpace(pair.GetAnswer())
		if answer == "" {
			answer = "(no preference)"
		}
		fmt.Fprintf(b, "- %s — %s\n", pair.GetQuestion(), llm.CutTokens(answer, 400))
	}
	b.WriteString("\n")
}

// material writes evidence page by page, each piece as its claim and the words that
// make it, as much of it as fits into tokens, and
// returns how many pieces that is. The first pieces have the first claim.
func material(items []evidence.Item, tokens int) (string, int) {
	var order []string
	pages := make(map[string][]string)
	shown := 0
	for _, item := range items {
		entry := piece(item)
		cost := llm.EstimateTokens(entry)
		page := item.Extraction.GetUrl()
		if pages[page] == nil {
			cost += llm.EstimateTokens(heading(item.Extraction))
		}
		if cost > tokens {
			continue
		}
		tokens -= cost
		shown++
		if pages[page] == nil {
			order = append(order, page)
			pages[page] = []string{heading(item.Extraction)}
		}
		pages[page] = append(pages[page], entry)
	}
	var b strings.Builder
	for _, page := range order {
		b.WriteString(strings.Join(pages[page], "\n") + "\n\n")
	}
	return llm.Fence("evidence", strings.TrimSpace(b.String())), shown
}

func heading(extraction *workv1.Extraction) string {
	parts := []string{"Title: " + strings.Join(strings.Fields(extraction.GetTitle()), " ")}
	if published := extraction.GetPublished(); published.IsValid() {
		parts = append(parts, "Published: "+published.AsTime().Format("2006-01-02"))
	}
	return strings.Join(append(parts, "URL: "+address(extraction.GetUrl())), "\n")
}

// address is a page's URL without what only a machine reads: models cite by number.
func address(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return raw
	}
	return u.Scheme + "://" + u.Host + u.Path
}

func piece(item evidence.Item) string {
	claim := strings.Join(strings.Fields(item.Extraction.GetClaim()), " ")
	quote := strings.Join(strings.Fields(item.Extraction.GetQuote()), " ")
	if quote == claim {
		return fmt.Sprintf("[%d] %s", item.Number, claim)
	}
	return fmt.Sprintf("[%d] %s\n    “%s”", item.Number, claim, quote)
}

func request(system, user, name, schema string) llm.Request {
	return llm.Request{
		Role: llm.Reporter, System: system, User: user, Temperature: temperature,
		Schema: &llm.Schema{Name: name, Schema: json.RawMessage(schema)},
	}
}
