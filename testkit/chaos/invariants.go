package chaos

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// invariants are questions to the database whose answer is a number of rows that
// must not be there.
var invariants = []struct{ rule, sql string }{
	{
		"open_queries is the number of open queries",
		`SELECT count(*) FROM research r WHERE r.open_queries <>
		   (SELECT count(*) FROM serp_query q WHERE q.research_id = r.id AND NOT q.expanded AND r.finished_at IS NULL)`,
	},
	{
		"urls_open is the number of websites that are not settled",
		`SELECT count(*) FROM serp_query q WHERE q.urls_open <>
		   (SELECT count(*) FROM website w WHERE w.query_id = q.id AND w.settled_at IS NULL)`,
	},
	{
		"each query that has ended above the last level has exactly its children",
		`SELECT count(*) FROM serp_query q JOIN research r ON r.id = q.research_id
		 WHERE r.status = 'completed' AND q.depth < r.depth AND (q.breadth + 1) / 2 <>
		   (SELECT count(*) FROM serp_query c WHERE c.parent_query_id = q.id)`,
	},
	{
		"each level-1 plan has exactly breadth queries",
		`SELECT count(*) FROM research r WHERE r.status = 'completed' AND r.breadth <>
		   (SELECT count(*) FROM serp_query q WHERE q.research_id = r.id AND q.depth = 1)`,
	},
	{
		"a query has at most seven websites",
		`SELECT count(*) FROM (SELECT query_id FROM website GROUP BY query_id HAVING count(*) > 7) AS crowded`,
	},
	{
		"each research that has completed has one report",
		`SELECT count(*) FROM research r WHERE r.status = 'completed' AND NOT EXISTS
		   (SELECT FROM report p WHERE p.research_id = r.id AND NOT p.partial)`,
	},
	{
		"every task of an ended research is closed",
		`SELECT count(*) FROM task t JOIN research r ON r.id = t.research_id WHERE r.finished_at IS NOT NULL AND t.closed_at IS NULL`,
	},
	{
		"every query of an ended research has ended",
		`SELECT count(*) FROM serp_query q JOIN research r ON r.id = q.research_id WHERE r.finished_at IS NOT NULL AND q.finished_at IS NULL`,
	},
	{
		"every website of an ended research is analyzed or failed",
		`SELECT count(*) FROM website w JOIN research r ON r.id = w.research_id WHERE r.finished_at IS NOT NULL AND w.settled_at IS NULL`,
	},
	{
		"the events of a research are numbered without a gap",
		`SELECT count(*) FROM research r WHERE r.event_sequence <> (SELECT count(*) FROM event e WHERE e.research_id = r.id)
		    OR r.event_sequence <> (SELECT coalesce(max(e.sequence), 0) FROM event e WHERE e.research_id = r.id)`,
	},
	{
		"no page failed: nothing of the outside did",
		`SELECT count(*) FROM website w WHERE w.status = 'failed'`,
	},
}

// check fills the figures from the database and the violations from the invariants.
func check(ctx context.Context, databaseURL string, opts Options, figures *Figures) error {
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return fmt.Errorf("connect to check the invariants: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	err = conn.QueryRow(ctx, `SELECT (SELECT count(*) FROM serp_query), (SELECT count(*) FROM website), (SELECT count(*) FROM report)`).
		Scan(&figures.Queries, &figures.Websites, &figures.Reports)
	if err != nil {
		return fmt.Errorf("count what was done: %w", err)
	}
	err = countReasons(ctx, conn, figures)
	if err != nil {
		return err
	}
	for _, invariant := range invariants {
		var broken int
		err = conn.QueryRow(ctx, invariant.sql).Scan(&broken)
		if err != nil {
			return fmt.Errorf("check that %s: %w", invariant.rule, err)
		}
		if broken > 0 {
			figures.violate("%s: broken %d times", invariant.rule, broken)
		}
	}
	wanted := figures.Researches * treeSize(opts.Depth, opts.Breadth)
	if figures.Queries != wanted {
		figures.violate("%d queries, not %d", figures.Queries, wanted)
	}
	if figures.Reports != figures.Researches {
		figures.violate("%d reports, not %d", figures.Reports, figures.Researches)
	}
	asked := 0
	for part, n := range figures.Kills {
		if !strings.HasSuffix(part, atFaultPoint) {
			asked += n
		}
	}
	if asked < opts.Kills {
		figures.violate("%d kills, not %d", asked, opts.Kills)
	}
	if figures.Repeated > figures.InFlight {
		figures.violate("%d model calls were paid twice, with %d in flight at the kills", figures.Repeated, figures.InFlight)
	}
	return nil
}

// countReasons tells why websites failed, so that a broken run explains itself.
func countReasons(ctx context.Context, conn *pgx.Conn, figures *Figures) error {
	rows, err := conn.Query(ctx, `SELECT reason || ': ' || left(error_message, 200), count(*) FROM website WHERE status = 'failed' GROUP BY 1`)
	if err != nil {
		return fmt.Errorf("count the reasons of failed websites: %w", err)
	}
	figures.Failures = make(map[string]int)
	var reason string
	var count int
	_, err = pgx.ForEachRow(rows, []any{&reason, &count}, func() error {
		figures.Failures[reason] = count
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the reasons of failed websites: %w", err)
	}
	return nil
}

func (f *Figures) violate(format string, args ...any) {
	f.Violations = append(f.Violations, fmt.Sprintf(format, args...))
}

// treeSize is the number of queries of a whole tree: each level has ceil(b/2)
// children for each query of the one above.
func treeSize(depth, breadth int) int {
	size, level := 0, 1
	for range depth {
		level *= breadth
		size += level
		breadth = (breadth + 1) / 2
	}
	return size
}
