module github.com/fathom-research/fathom/cmd/fathom

go 1.26.0

require (
	github.com/fathom-research/fathom/llm v0.0.0
	github.com/fathom-research/fathom/platform v0.0.0
	github.com/fathom-research/fathom/proto v0.0.0
	github.com/fathom-research/fathom/testkit v0.0.0
	github.com/fathom-research/fathom/services/gateway v0.0.0
	github.com/fathom-research/fathom/services/state v0.0.0
	github.com/fathom-research/fathom/services/planner v0.0.0
	github.com/fathom-research/fathom/services/searcher v0.0.0
	github.com/fathom-research/fathom/services/scraper v0.0.0
	github.com/fathom-research/fathom/services/analyzer v0.0.0
	github.com/fathom-research/fathom/services/reporter v0.0.0
)

replace (
	github.com/fathom-research/fathom/llm => ../../llm
	github.com/fathom-research/fathom/platform => ../../platform
	github.com/fathom-research/fathom/proto => ../../proto
	github.com/fathom-research/fathom/testkit => ../../testkit
	github.com/fathom-research/fathom/services/gateway => ../../services/gateway
	github.com/fathom-research/fathom/services/state => ../../services/state
	github.com/fathom-research/fathom/services/planner => ../../services/planner
	github.com/fathom-research/fathom/services/searcher => ../../services/searcher
	github.com/fathom-research/fathom/services/scraper => ../../services/scraper
	github.com/fathom-research/fathom/services/analyzer => ../../services/analyzer
	github.com/fathom-research/fathom/services/reporter => ../../services/reporter
)
