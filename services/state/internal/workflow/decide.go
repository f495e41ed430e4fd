package workflow

// Happening is something that a decision follows.
type Happening int

// What can happen to a research.
const (
	// QuestionsAsked and QuestionsFailed end the questions task.
	QuestionsAsked Happening = iota + 1
	QuestionsFailed
	// Started is the person's word to go on.
	Started
	// Planned and PlanFailed end a queries task: the root plan when Query.Depth is
	// 0, otherwise the expansion of that query.
	Planned
	PlanFailed
	// Searched says that the query's websites are there, settled or not.
	Searched
	// SearchFailed is a search that failed for good.
	SearchFailed
	// SiteSettled says that one website of the query was analyzed or has failed.
	SiteSettled
	// TimeUp is the research's deadline, after all its work but the report closed.
	TimeUp
	// Reported and ReportFailed end the report task.
	Reported
	ReportFailed
)

// Situation is what a decision depends on, as it is after the facts were stored
// and before anything that follows from them.
type Situation struct {
	Happening Happening
	// Depth and Breadth are what the research was started with.
	Depth   int
	Breadth int
	// OpenQueries counts the queries whose expansion is not applied.
	OpenQueries int
	// Query is the one that it happened to; zero for the root plan.
	Query QuerySituation
	// Children is how many queries a plan brought.
	Children int
	// Queries, QueriesCompleted and Extractions are the research's counts. Only
	// TimeUp and Reported look at them.
	Queries          int
	QueriesCompleted int
	Extractions      int
}

// QuerySituation is one query.
type QuerySituation struct {
	Depth    int
	Breadth  int
	URLsOpen int
}

// Next is what follows. Its zero value is nothing.
type Next struct {
	// Status is the research's new status; empty when it stays.
	Status Status
	// Query is the query's new status; empty when it stays.
	Query QueryStatus
	// Expand is how many queries to ask the planner for: the root's when the
	// situation has no query, else the query's children. 0 asks for none.
	Expand int
	// Expanded closes the query for good: its children exist, or it has none.
	Expanded bool
	// OpenQueries is added to the research's counter.
	OpenQueries int
	// Search says that each planned child is to be searched.
	Search bool
	// Report says that the report is due.
	Report bool
	// ErrorOutput says that error-output.md is to be stored.
	ErrorOutput bool
}

// Decide says what comes next. It is the only place that knows the order of a
// research's steps.
func Decide(s Situation) Next {
	switch s.Happening {
	case QuestionsAsked:
		return Next{Status: Ready}
	case QuestionsFailed:
		return Next{Status: Failed, ErrorOutput: true}
	case Started:
		return Next{Status: Running, OpenQueries: 1, Expand: s.Breadth}
	case Planned:
		return closed(s, Next{Expanded: s.Query.Depth > 0, OpenQueries: s.Children - 1, Search: true})
	case PlanFailed:
		return planFailed(s)
	case Searched, SiteSettled:
		if s.Query.URLsOpen > 0 {
			return Next{}
		}
		return queryEnded(s, Next{Query: QueryCompleted})
	case SearchFailed:
		return queryEnded(s, Next{Query: QueryFailed, ErrorOutput: true})
	case TimeUp:
		return timeUp(s)
	case Reported:
		return reported(s)
	case ReportFailed:
		return Next{Status: Failed, ErrorOutput: true}
	default:
		return Next{}
	}
}

// planFailed: a query without children is closed; without a root plan there is
// nothing to report on.
func planFailed(s Situation) Next {
	if s.Query.Depth == 0 {
		return Next{Status: Failed, OpenQueries: -1, ErrorOutput: true}
	}
	return closed(s, Next{Expanded: true, OpenQueries: -1, ErrorOutput: true})
}

// queryEnded goes deeper at once, without waiting for any other query.
func queryEnded(s Situation, next Next) Next {
	if s.Query.Depth < s.Depth {
		next.Expand = Children(s.Query.Breadth)
		return next
	}
	next.Expanded = true
	next.OpenQueries = -1
	return closed(s, next)
}

// closed adds the report when no query is open any more.
func closed(s Situation, next Next) Next {
	if s.OpenQueries+next.OpenQueries == 0 {
		next.Status = Reporting
		next.Report = true
	}
	return next
}

func timeUp(s Situation) Next {
	if s.Queries == 0 {
		return Next{Status: Failed, ErrorOutput: true}
	}
	return Next{Status: Reporting, Report: true}
}

// reported never calls a research a success that has nothing to show: when no query
// completed and nothing was extracted, the report says so and so does the status.
func reported(s Situation) Next {
	if s.QueriesCompleted == 0 && s.Extractions == 0 {
		return Next{Status: Failed, ErrorOutput: true}
	}
	return Next{Status: Completed}
}
