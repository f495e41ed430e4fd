#!/usr/bin/env bash
# Checks that heavy libraries are linked only where the architecture allows it.
# Looks at what would be linked (tests aside), package by package of each module.
set -euo pipefail
cd "$(dirname "$0")/.."

# library=the modules that may link it
rules=(
  'github.com/chromedp/chromedp=services/scraper'
  'github.com/jackc/pgx/v5=services/state'
  'github.com/nats-io/nats-server/v2=cmd/fathom'
  'github.com/openai/openai-go/v3=llm services/planner services/analyzer services/reporter'
  'github.com/go-shiori/go-readability=services/scraper'
)
# What a module's own code may import directly; linking it through another is fine.
direct_rules=(
  # OpenTelemetry's generated OTLP code links its runtime into every binary.
  'github.com/grpc-ecosystem/grpc-gateway/v2=services/gateway'
  'github.com/nats-io/nats.go=platform cmd/fathom testkit'
  'github.com/openai/openai-go/v3=llm'
)

failed=0
complain() {
  printf 'link check: %s\n' "$*" >&2
  failed=1
}

within() { [[ " $2 " == *" $1 "* ]]; }
uses() { grep -Eq "^$(sed 's/[.]/\\./g' <<<"$1")(/|$)" <<<"$2"; }

for module in $(scripts/modules.sh); do
  # fathom is everything in one process; testkit is for tests.
  [[ "$module" == cmd/fathom || "$module" == testkit ]] && continue
  linked="$(go list -deps "./$module/..." | sort -u)"
  for rule in "${rules[@]}"; do
    if uses "${rule%%=*}" "$linked" && ! within "$module" "${rule#*=}"; then
      complain "$module links ${rule%%=*}, which only ${rule#*=} may"
    fi
  done
done

for module in $(scripts/modules.sh); do
  imported="$(go list -f '{{join .Imports "\n"}}' "./$module/..." | sort -u)"
  for rule in "${direct_rules[@]}"; do
    if uses "${rule%%=*}" "$imported" && ! within "$module" "${rule#*=}"; then
      complain "$module imports ${rule%%=*}, which only ${rule#*=} may"
    fi
  done
  if [[ "$module" == services/* ]]; then
    others="$(grep -E '^github.com/fathom-research/fathom/services/' <<<"$imported" | grep -v "^github.com/fathom-research/fathom/$module\(/\|$\)" || true)"
    [[ -z "$others" ]] || complain "$module imports another service: $others"
  fi
done

if ((failed)); then
  exit 1
fi
printf 'link check: every library is linked only where it belongs\n'
