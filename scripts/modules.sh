#!/usr/bin/env bash
# Prints the folders of the workspace's modules, one a line.
set -euo pipefail
cd "$(dirname "$0")/.."
go work edit -json | sed -n 's/.*"DiskPath": "\.\/\([^"]*\)".*/\1/p'
