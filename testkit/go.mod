module github.com/fathom-research/fathom/testkit

go 1.26.0

require (
	github.com/fathom-research/fathom/platform v0.0.0
	github.com/jackc/pgx/v5 v5.12.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/text v0.42.0 // indirect
)

replace (
	github.com/fathom-research/fathom/platform => ../platform
	github.com/fathom-research/fathom/proto => ../proto
)
