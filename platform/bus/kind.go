package bus

import workv1 "github.com/fathom-research/fathom/proto/fathom/work/v1"

// Kind names a sort of task. It is a token of the task's subject and the name of
// the durable consumer that serves it.
type Kind string

// The kinds of tasks.
const (
	Questions Kind = "questions"
	Queries   Kind = "queries"
	Search    Kind = "search"
	Scrape    Kind = "scrape"
	Analyze   Kind = "analyze"
	Report    Kind = "report"
)

// Kinds lists every kind.
var Kinds = []Kind{Questions, Queries, Search, Scrape, Analyze, Report}

// KindOf is the kind of the task's payload, or empty when it has none.
func KindOf(task *workv1.Task) Kind {
	switch task.GetPayload().(type) {
	case *workv1.Task_Questions:
		return Questions
	case *workv1.Task_Queries:
		return Queries
	case *workv1.Task_Search:
		return Search
	case *workv1.Task_Scrape:
		return Scrape
	case *workv1.Task_Analyze:
		return Analyze
	case *workv1.Task_Report:
		return Report
	default:
		return ""
	}
}
