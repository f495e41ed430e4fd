module github.com/fathom-research/fathom/services/planner

go 1.26.0

require (
	github.com/fathom-research/fathom/llm v0.0.0
	github.com/fathom-research/fathom/platform v0.0.0
	github.com/fathom-research/fathom/proto v0.0.0
	github.com/fathom-research/fathom/testkit v0.0.0
)

replace (
	github.com/fathom-research/fathom/llm => ../../llm
	github.com/fathom-research/fathom/platform => ../../platform
	github.com/fathom-research/fathom/proto => ../../proto
	github.com/fathom-research/fathom/testkit => ../../testkit
)
