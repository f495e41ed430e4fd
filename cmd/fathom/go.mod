module github.com/fathom-research/fathom/cmd/fathom

go 1.26.0

require (
	github.com/blevesearch/snowballstem v0.9.0
	github.com/clipperhouse/uax29/v2 v2.7.0
	github.com/fathom-research/fathom/llm v0.0.0
	github.com/fathom-research/fathom/platform v0.0.0
	github.com/fathom-research/fathom/proto v0.0.0
	github.com/fathom-research/fathom/services/analyzer v0.0.0
	github.com/fathom-research/fathom/services/gateway v0.0.0
	github.com/fathom-research/fathom/services/planner v0.0.0
	github.com/fathom-research/fathom/services/reporter v0.0.0
	github.com/fathom-research/fathom/services/scraper v0.0.0
	github.com/fathom-research/fathom/services/searcher v0.0.0
	github.com/fathom-research/fathom/services/state v0.0.0
	github.com/fathom-research/fathom/testkit v0.0.0
	github.com/ledongthuc/pdf v0.0.0-20260907135840-6c8c28e0e8a0
	github.com/nats-io/nats-server/v2 v2.15.2
	github.com/nats-io/nats.go v1.55.0
	github.com/spf13/cobra v1.10.2
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
	golang.org/x/net v0.62.0
	golang.org/x/sync v0.24.0
	golang.org/x/term v0.47.0
	golang.org/x/text v0.42.0
	google.golang.org/grpc v1.85.0
	google.golang.org/protobuf v1.36.12
)

replace (
	github.com/fathom-research/fathom/llm => ../../llm
	github.com/fathom-research/fathom/platform => ../../platform
	github.com/fathom-research/fathom/proto => ../../proto
	github.com/fathom-research/fathom/services/analyzer => ../../services/analyzer
	github.com/fathom-research/fathom/services/gateway => ../../services/gateway
	github.com/fathom-research/fathom/services/planner => ../../services/planner
	github.com/fathom-research/fathom/services/reporter => ../../services/reporter
	github.com/fathom-research/fathom/services/scraper => ../../services/scraper
	github.com/fathom-research/fathom/services/searcher => ../../services/searcher
	github.com/fathom-research/fathom/services/state => ../../services/state
	github.com/fathom-research/fathom/testkit => ../../testkit
)
