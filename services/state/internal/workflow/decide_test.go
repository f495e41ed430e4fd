package workflow_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	query := func(depth, breadth, open int) workflow.QuerySituation {
		return workflow.QuerySituation{Depth: depth, Breadth: breadth, URLsOpen: open}
	}
	for _, c := range []struct {
		name string
		in   workflow.Situation
		want workflow.Next
	}{
		{"questions are there", workflow.Situation{Happening: workflow.QuestionsAsked}, workflow.Next{Status: workflow.Ready}},
		{"no questions", workflow.Situation{Happening: workflow.QuestionsFailed}, workflow.Next{Status: workflow.Failed, ErrorOutput: true}},
		{
			"start plans the root", workflow.Situation{Happening: workflow.Started, Depth: 2, Breadth: 5},
			workflow.Next{Status: workflow.Running, OpenQueries: 1, Expand: 5},
		},
		{
			"root plan", workflow.Situation{Happening: workflow.Planned, Depth: 2, OpenQueries: 1, Children: 5},
			workflow.Next{OpenQueries: 4, Search: true},
		},
		{
			"root plan of one", workflow.Situation{Happening: workflow.Planned, Depth: 1, OpenQueries: 1, Children: 1},
			workflow.Next{OpenQueries: 0, Search: true},
		},
		{
			"root plan failed", workflow.Situation{Happening: workflow.PlanFailed, Depth: 2, OpenQueries: 1},
			workflow.Next{Status: workflow.Failed, OpenQueries: -1, ErrorOutput: true},
		},
		{
			"expansion", workflow.Situation{Happening: workflow.Planned, Depth: 3, OpenQueries: 2, Children: 3, Query: query(1, 5, 0)},
			workflow.Next{Expanded: true, OpenQueries: 2, Search: true},
		},
		{
			"expansion failed, others open", workflow.Situation{Happening: workflow.PlanFailed, Depth: 3, OpenQueries: 2, Query: query(1, 5, 0)},
			workflow.Next{Expanded: true, OpenQueries: -1, ErrorOutput: true},
		},
		{
			"last expansion failed", workflow.Situation{Happening: workflow.PlanFailed, Depth: 3, OpenQueries: 1, Query: query(1, 5, 0)},
			workflow.Next{Status: workflow.Reporting, Expanded: true, OpenQueries: -1, ErrorOutput: true, Report: true},
		},
		{
			"search with pages to read", workflow.Situation{Happening: workflow.Searched, Depth: 2, OpenQueries: 3, Query: query(1, 3, 7)},
			workflow.Next{},
		},
		{
			"search without hits goes deeper", workflow.Situation{Happening: workflow.Searched, Depth: 2, OpenQueries: 3, Query: query(1, 3, 0)},
			workflow.Next{Query: workflow.QueryCompleted, Expand: 2},
		},
		{
			"failed search goes deeper too", workflow.Situation{Happening: workflow.SearchFailed, Depth: 2, OpenQueries: 3, Query: query(1, 3, 0)},
			workflow.Next{Query: workflow.QueryFailed, Expand: 2, ErrorOutput: true},
		},
		{
			"failed search at the bottom, the last", workflow.Situation{Happening: workflow.SearchFailed, Depth: 2, OpenQueries: 1, Query: query(2, 2, 0)},
			workflow.Next{Status: workflow.Reporting, Query: workflow.QueryFailed, Expanded: true, OpenQueries: -1, ErrorOutput: true, Report: true},
		},
		{
			"a page of many", workflow.Situation{Happening: workflow.SiteSettled, Depth: 2, OpenQueries: 1, Query: query(1, 3, 1)},
			workflow.Next{},
		},
		{
			"the last page goes deeper", workflow.Situation{Happening: workflow.SiteSettled, Depth: 2, OpenQueries: 1, Query: query(1, 5, 0)},
			workflow.Next{Query: workflow.QueryCompleted, Expand: 3},
		},
		{
			"the last page at the bottom", workflow.Situation{Happening: workflow.SiteSettled, Depth: 2, OpenQueries: 2, Query: query(2, 5, 0)},
			workflow.Next{Query: workflow.QueryCompleted, Expanded: true, OpenQueries: -1},
		},
		{
			"the last page of all", workflow.Situation{Happening: workflow.SiteSettled, Depth: 2, OpenQueries: 1, Query: query(2, 5, 0)},
			workflow.Next{Status: workflow.Reporting, Query: workflow.QueryCompleted, Expanded: true, OpenQueries: -1, Report: true},
		},
		{
			"time is up", workflow.Situation{Happening: workflow.TimeUp, Queries: 3},
			workflow.Next{Status: workflow.Reporting, Report: true},
		},
		{
			"time is up before the root plan", workflow.Situation{Happening: workflow.TimeUp},
			workflow.Next{Status: workflow.Failed, ErrorOutput: true},
		},
		{
			"report", workflow.Situation{Happening: workflow.Reported, Queries: 2, QueriesCompleted: 1, Extractions: 4},
			workflow.Next{Status: workflow.Completed},
		},
		{
			"report of searches that found nothing", workflow.Situation{Happening: workflow.Reported, Queries: 2, QueriesCompleted: 2},
			workflow.Next{Status: workflow.Completed},
		},
		{
			"report of failures only", workflow.Situation{Happening: workflow.Reported, Queries: 2},
			workflow.Next{Status: workflow.Failed, ErrorOutput: true},
		},
		{
			"no report", workflow.Situation{Happening: workflow.ReportFailed, Queries: 2, QueriesCompleted: 2, Extractions: 4},
			workflow.Next{Status: workflow.Failed, ErrorOutput: true},
		},
		{"nothing known", workflow.Situation{}, workflow.Next{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, workflow.Decide(c.in))
		})
	}
}
