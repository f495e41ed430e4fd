package prompt

import (
	"fmt"
	"strings"

	"github.com/fathom-research/fathom/llm"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/reporter/internal/evidence"
)

// OutlineAnswer is the answer to Outline.
type OutlineAnswer struct {
	Title    string    `json:"title"`
	Sections []Heading `json:"sections"`
}

// Heading is one section of the outline.
type Heading struct {
	Heading string `json:"heading"`
	Focus   string `json:"focus"`
}

const outlineSystem = `You plan the report of a research. The report answers the research prompt from evidence that was found on the web, and from nothing else.

- The title says in a few words what the report is about.
- The sections are ordered so that the answer comes first and what depends on it later. Each has a short, telling heading and a focus: one sentence that says what it covers and which other section it leaves what to. No two sections cover the same.
- A section is planned only where there is evidence for it. There are no sections for introduction, summary, conclusion, method or sources: they are made otherwise.
- Headings and title are in the language of the research prompt.

` + llm.Untrusted + `

Answer as JSON: {"title": "…", "sections": [{"heading": "…", "focus": "…"}, …]}.`

// Outline asks for a plan of at most sections sections, and about half of that at least.
func Outline(task *workv1.ReportTask, items []evidence.Item, sections, contextTokens int) llm.Request {
	fewest := (sections + 1) / 2
	var b strings.Builder
	goal(&b, task, contextTokens/8)
	found, _ := material(items, contextTokens/2)
	fmt.Fprintf(&b, "Evidence:\n%s\n\n", found)
	fmt.Fprintf(&b, "Plan a report of about %d words in %d to %d sections.", task.GetWords(), fewest, sections)
	return request(outlineSystem, b.String(), "outline", fmt.Sprintf(
		`{"type":"object","properties":{"title":{"type":"string"},"sections":{"type":"array","minItems":%d,"maxItems":%d,"items":{"type":"object","properties":{"heading":{"type":"string"},"focus":{"type":"string"}},"required":["heading","focus"],"additionalProperties":false}}},"required":["title","sections"],"additionalProperties":false}`, fewest, sections))
}
