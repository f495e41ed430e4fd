#!/usr/bin/env bash
# Builds the pinned tools that are named (all when none is) into .tools/, each from
# its own module, so that no tool's dependencies meet another's.
set -euo pipefail
cd "$(dirname "$0")/.."

names=("$@")
if ((${#names[@]} == 0)); then
  names=($(ls tools))
fi
mkdir -p .tools
out="$PWD/.tools/"
for name in "${names[@]}"; do
  stamp=".tools/$name.sum"
  sum="$(cat "tools/$name/go.mod" "tools/$name/go.sum" | cksum) $(go env GOVERSION)"
  if [[ -f "$stamp" && "$(cat "$stamp")" == "$sum" ]]; then
    continue
  fi
  printf 'fathom: building %s\n' "$name" >&2
  (cd "tools/$name" && GOWORK=off GOFLAGS=-mod=readonly go build -o "$out" tool)
  printf '%s' "$sum" >"$stamp"
done
