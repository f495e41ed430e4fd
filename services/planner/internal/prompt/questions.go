// Package prompt holds what the planner says to a model.
package prompt

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fathom-research/fathom/llm"
)

// QuestionsAnswer is the answer to Questions.
type QuestionsAnswer struct {
	Questions []string `json:"questions"`
}

const questionsSystem = `You prepare a research that will search and read the web for a person. Before it begins, you ask that person about what their prompt leaves open.

Good questions:
- change what is searched for or what the report must decide: purpose, scope, time span, places, criteria, alternatives to compare, meaning of an ambiguous word, what is known already;
- are about this prompt and name its subject: they would make no sense under another prompt;
- ask for one thing each, and no two of them ask for the same;
- can be answered by the person from the top of their head, and not by the research itself;
- are one sentence, in the language of the prompt.

Answer as JSON: {"questions": ["…", …]}.`

const temperature = 0.3

// Questions asks for n questions about what prompt leaves open. kept are those that
// are there already, refused those that doubled another one.
func Questions(prompt string, n int, kept, refused []string, contextTokens int) llm.Request {
	var b strings.Builder
	fmt.Fprintf(&b, "Research prompt: %s\n\n", llm.CutTokens(prompt, contextTokens/2))
	list(&b, "Questions that are asked already; yours must ask for something else:", kept)
	list(&b, "These were refused since they ask for the same as another one:", refused)
	fmt.Fprintf(&b, "Ask exactly %d %s.", n, plural(n, "question", "questions"))
	return llm.Request{
		Role: llm.Planner, System: questionsSystem, User: b.String(), Temperature: temperature,
		Schema: &llm.Schema{Name: "questions", Schema: json.RawMessage(fmt.Sprintf(
			`{"type":"object","properties":{"questions":{"type":"array","items":{"type":"string"},"minItems":%d,"maxItems":%d}},"required":["questions"],"additionalProperties":false}`, n, n))},
	}
}

// listed bounds how many texts of one list a prompt shows.
const listed = 60

func list(b *strings.Builder, heading string, items []string) {
	if len(items) == 0 {
		return
	}
	b.WriteString(heading + "\n")
	for _, item := range items[max(0, len(items)-listed):] {
		b.WriteString("- " + item + "\n")
	}
	b.WriteString("\n")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
