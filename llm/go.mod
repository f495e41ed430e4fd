module github.com/fathom-research/fathom/llm

go 1.26.0

require github.com/fathom-research/fathom/proto v0.0.0

require google.golang.org/protobuf v1.36.12 // indirect

replace (
	github.com/fathom-research/fathom/platform => ../platform
	github.com/fathom-research/fathom/proto => ../proto
)
