package prompt

import (
	"fmt"
	"strings"

	"github.com/fathom-research/fathom/llm"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/reporter/internal/evidence"
)

// SectionAnswer is the answer to Section.
type SectionAnswer struct {
	Paragraphs []struct {
		Sentences []Sentence `json:"sentences"`
	} `json:"paragraphs"`
}

const sectionSystem = `You write one section of a report that answers a research prompt. You write from the evidence that is given (numbered claims, with the words of the page in quotation marks), and from nothing else: someone will check every sentence against the evidence that it names, and strike out what is not there.

` + rules + `

The section is written for an informed reader: what matters most for the prompt first, then what explains, limits or contradicts it; concrete figures and dates rather than general remarks; each fact once. Sentences follow from one another and can be read aloud. If the evidence carries less than the asked length, the section is shorter.

` + llm.Untrusted + `

Answer as JSON: {"paragraphs": [{"sentences": [{"sentence": "…", "sources": [1, 2]}, …]}, …]}.`

var sectionSchema = `{"type":"object","properties":{"paragraphs":{"type":"array","items":{"type":"object","properties":{"sentences":` + sentencesSchema + `},"required":["sentences"],"additionalProperties":false}}},"required":["paragraphs"],"additionalProperties":false}`

// Section asks for the text of section number at of an outline.
func Section(task *workv1.ReportTask, outline []Heading, at int, items []evidence.Item, words, contextTokens int) llm.Request {
	var b strings.Builder
	goal(&b, task, contextTokens/8)
	fmt.Fprintf(&b, "Topic: %s. %s\n\nThe report's sections:\n", outline[at].Heading, outline[at].Focus)
	for i, section := range outline {
		mark := ""
		if i == at {
			mark = " ← this one"
		}
		fmt.Fprintf(&b, "- %s: %s%s\n", section.Heading, section.Focus, mark)
	}
	found, _ := material(items, contextTokens/2)
	fmt.Fprintf(&b, "\nEvidence:\n%s\n\n", found)
	fmt.Fprintf(&b, "Write the section %q in about %d words.", outline[at].Heading, words)
	return request(sectionSystem, b.String(), "section", sectionSchema)
}
