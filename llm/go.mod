module github.com/fathom-research/fathom/llm

go 1.26.0

require (
	github.com/blevesearch/snowballstem v0.9.0
	github.com/clipperhouse/uax29/v2 v2.7.0
	github.com/fathom-research/fathom/proto v0.0.0
	github.com/neurosnap/sentences v1.1.2
	github.com/stretchr/testify v1.12.1
	pgregory.net/rapid v1.3.0
)

require (
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace (
	github.com/fathom-research/fathom/platform => ../platform
	github.com/fathom-research/fathom/proto => ../proto
)
