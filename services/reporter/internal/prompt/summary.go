package prompt

import (
	"fmt"
	"strings"

	"github.com/fathom-research/fathom/llm"
	workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"
	"github.com/fathom-research/fathom/services/reporter/internal/draft"
)

// SummaryAnswer is the answer to Summary.
type SummaryAnswer struct {
	Sentences []Sentence `json:"sentences"`
}

const summarySystem = `You write the summary that stands at the head of a report: three to five sentences that answer the research prompt from the report's own text, the most important first.

` + rules + `

In the report's text the numbers in brackets behind a sentence are its sources: use those numbers.

` + llm.Untrusted + `

Answer as JSON: {"sentences": [{"sentence": "…", "sources": [1]}, …]}.`

var summarySchema = `{"type":"object","properties":{"sentences":` + sentencesSchema + `},"required":["sentences"],"additionalProperties":false}`

// Summary asks for the summary of what has been written.
func Summary(task *workv1.ReportTask, report *draft.Report, contextTokens int) llm.Request {
	var b, text strings.Builder
	goal(&b, task, contextTokens/8)
	for _, section := range report.Sections {
		fmt.Fprintf(&text, "%s\n", section.Heading)
		for _, paragraph := range section.Paragraphs {
			for _, sentence := range paragraph.Sentences {
				text.WriteString(sentence.Text + " ")
				for _, number := range sentence.Supported {
					fmt.Fprintf(&text, "[%d]", number)
				}
				text.WriteString("\n")
			}
		}
		text.WriteString("\n")
	}
	fmt.Fprintf(&b, "The report's text:\n%s\n\nWrite its summary.", llm.Fence("report", llm.CutTokens(text.String(), contextTokens/2)))
	return request(summarySystem, b.String(), "summary", summarySchema)
}
