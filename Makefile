# Fathom. `make help` lists what can be made.

SHELL       := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# PROMPT is what `make run` researches; DEPTH and BREADTH are the tree's size.
PROMPT  ?= How do Raft and Paxos reach consensus, how many failures do they survive, and which systems use them?
DEPTH   ?= 2
BREADTH ?= 3
# CORPUS is a folder to search when FATHOM_SEARXNG_URL is not set; empty is the sample.
CORPUS  ?=
# DATA is where the private Postgres cluster and NATS keep their files; empty is the default.
DATA    ?=
OUT     ?= reports/report.md

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -X github.com/fathom-research/fathom/platform/process.Version=$(VERSION) -X main.version=$(VERSION)
SERVICES := gateway state planner searcher scraper analyzer reporter
MODULES  := $(shell scripts/modules.sh 2>/dev/null)
ALL      := $(MODULES:%=./%/...)

# What has goroutines that share memory is tested under the race detector; the rest
# is pure or is tested through these.
RACED    := platform services/state services/gateway services/planner services/searcher services/analyzer services/reporter
UNRACED  := $(filter-out $(RACED),$(MODULES))

.PHONY: help
help: ## List what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

.PHONY: run
run: ## Research PROMPT, and print the cited report; installs what is missing
	@scripts/install.sh run
	@$(MAKE) --no-print-directory bin/fathom
	@mkdir -p "$(dir $(OUT))"
	@bin/fathom research "$$PROMPT" --depth "$(DEPTH)" --breadth "$(BREADTH)" --yes -o "$(OUT)" --print \
		$(if $(CORPUS),--corpus "$(CORPUS)") $(if $(DATA),--data "$(DATA)")
export PROMPT

.PHONY: up
up: bin/fathom ## Run all of Fathom in one process, at http://127.0.0.1:8080
	@scripts/install.sh run
	@bin/fathom up $(if $(CORPUS),--corpus "$(CORPUS)") $(if $(DATA),--data "$(DATA)")

.PHONY: build
build: bin/fathom ## Build bin/fathom and one program per service
	go build -ldflags "$(LDFLAGS)" -o bin/ $(SERVICES:%=./services/%/cmd/%)

# Go knows better than make what is out of date.
.PHONY: bin/fathom
bin/fathom:
	@go build -ldflags "$(LDFLAGS)" -o bin/fathom ./cmd/fathom

# REGISTRY is what the images' names begin with, up to a slash; TAG is their tag.
REGISTRY ?=
TAG      ?= dev

.PHONY: images
images: ## Build the images for Kubernetes, with docker: docs/kubernetes.md
	@for image in $(SERVICES) scraper-proxy; do \
		docker build -f deploy/Dockerfile --build-arg VERSION="$(VERSION)" --target "$$image" \
			-t "$(REGISTRY)fathom/$$image:$(TAG)" .; \
	done

.PHONY: test
test: ## Run all tests; installs what is missing
	@scripts/install.sh test
	go test -race -timeout 10m $(RACED:%=./%/...)
	go test -timeout 10m $(UNRACED:%=./%/...)

.PHONY: lint
lint: ## Check format, vet, and the rules of .golangci.yaml
	@scripts/tools.sh golangci-lint
	@unformatted="$$(gofmt -l $(MODULES))"; if [[ -n "$$unformatted" ]]; then echo "gofmt: $$unformatted"; exit 1; fi
	.tools/golangci-lint run $(ALL)

.PHONY: generate
generate: ## Make the Go code of the protos
	@scripts/tools.sh buf protoc-gen-go protoc-gen-go-grpc grpc-gateway
	PATH="$$PWD/.tools:$$PATH" buf generate

.PHONY: bench
bench: ## Run the benchmarks
	@scripts/install.sh test
	go test -run '^$$' -bench . -benchmem -timeout 30m $(ALL)

.PHONY: chaos
chaos: ## Kill processes at random while 50 researches run; takes half an hour
	@scripts/install.sh test
	go test ./testkit/chaos -run TestResearchesSurvive -count=1 -timeout 3h -v -args \
		-chaos.researches=50 -chaos.parallel=6 -chaos.depth=5 -chaos.breadth=5 \
		-chaos.kills=200 -chaos.every=4s -chaos.deadline=170m

.PHONY: tidy
tidy: ## Tidy every module, and the workspace
	@for module in $(MODULES); do echo "tidy $$module"; (cd "$$module" && GOWORK=off go mod tidy); done
	go work sync

.PHONY: clean
clean: ## Remove what was built; researches are kept
	rm -rf bin .tools
