package workflow

import "math/big"

// Children is the number of children of a query whose own level was made with
// breadth queries: half of it, rounded up.
func Children(breadth int) int {
	return breadth/2 + breadth%2
}

// TreeSize is the exact number of queries of a tree. It takes a few steps for any
// depth and breadth and can't overflow, since it sees what people type.
func TreeSize(depth, breadth int) *big.Int {
	total, level := new(big.Int), big.NewInt(1)
	if depth <= 0 || breadth <= 0 {
		return total
	}
	for left := depth; left > 0; left-- {
		level.Mul(level, big.NewInt(int64(breadth)))
		if breadth == 1 {
			// Every level from here on is as large as this one.
			rest := new(big.Int).Mul(level, big.NewInt(int64(left)))
			return total.Add(total, rest)
		}
		total.Add(total, level)
		breadth = Children(breadth)
	}
	return total
}

// Work is the most that a research does.
type Work struct {
	Queries    int
	Pages      int
	Plans      int // calls that make queries
	Analyses   int
	ModelCalls int // all calls after start: plans, analyses and the report
}

// Estimate counts the work of a tree that is within the limit, with at most
// searchLimit pages a query. Repairs of unusable answers come on top.
func Estimate(depth, breadth, searchLimit int) Work {
	queries := int(TreeSize(depth, breadth).Int64())
	inner := int(TreeSize(depth-1, breadth).Int64())
	pages := queries * searchLimit
	return Work{Queries: queries, Pages: pages, Plans: 1 + inner, Analyses: pages, ModelCalls: 1 + inner + pages + 1}
}
