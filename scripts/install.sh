#!/usr/bin/env bash
# Installs the system packages that Fathom needs and this machine lacks, and says so.
# Nothing is fetched when everything is there.
#   scripts/install.sh run    what `make run` needs: Postgres, Chromium
#   scripts/install.sh test   what `make test` needs besides: a C compiler for -race
set -euo pipefail

purpose="${1:-run}"

say() { printf 'fathom: %s\n' "$*" >&2; }

has_postgres() {
  [[ -n "${FATHOM_POSTGRES_BIN:-}" ]] && return 0
  command -v initdb >/dev/null && return 0
  compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null ||
    compgen -G '/usr/pgsql-*/bin/initdb' >/dev/null ||
    compgen -G '/opt/homebrew/opt/postgresql@*/bin/initdb' >/dev/null ||
    compgen -G '/usr/local/opt/postgresql@*/bin/initdb' >/dev/null
}

has_chromium() {
  [[ -n "${FATHOM_CHROME_PATH:-}" ]] && return 0
  local name
  for name in chromium chromium-browser chromium-headless-shell google-chrome google-chrome-stable chrome; do
    command -v "$name" >/dev/null && return 0
  done
  [[ -d '/Applications/Google Chrome.app' || -d '/Applications/Chromium.app' ]]
}

has_compiler() { command -v gcc >/dev/null || command -v clang >/dev/null; }

if ! command -v go >/dev/null; then
  say 'Go is missing. Install Go 1.26 or newer from https://go.dev/dl/ and try again.'
  exit 1
fi

missing=()
has_postgres || missing+=(postgres)
has_chromium || missing+=(chromium)
if [[ "$purpose" == test ]]; then
  has_compiler || missing+=(compiler)
  command -v make >/dev/null || missing+=(make)
  command -v curl >/dev/null || missing+=(curl)
fi
if ((${#missing[@]} == 0)); then
  exit 0
fi
say "missing on this machine: ${missing[*]}"

as_root() {
  if [[ "$(id -u)" == 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    say "running with sudo: $*"
    sudo "$@"
  else
    say "root is needed for: $*"
    say 'Run it as root and try again.'
    exit 1
  fi
}

apt_get() { as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q "$@" </dev/null >&2; }

# install_postgres leaves out the cluster that Debian would start: Fathom runs its own.
install_postgres() {
  apt_get install --no-install-recommends postgresql-common
  as_root sed -i -E 's/^#? *create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf
  apt_get install --no-install-recommends postgresql
}

install_with_apt() {
  say 'installing them with apt-get'
  apt_get update
  local what packages=()
  for what in "${missing[@]}"; do
    case "$what" in
      postgres) install_postgres ;;
      chromium) packages+=(chromium) ;;
      compiler) packages+=(gcc libc6-dev) ;;
      *) packages+=("$what") ;;
    esac
  done
  if ((${#packages[@]} > 0)); then
    apt_get install --no-install-recommends ca-certificates "${packages[@]}"
  fi
}

install_with_brew() {
  say 'installing them with Homebrew (this way is not tested)'
  local what
  for what in "${missing[@]}"; do
    case "$what" in
      postgres) brew install postgresql@16 ;;
      chromium) brew install --cask chromium ;;
      compiler) say 'install the command line tools: xcode-select --install' ;;
      *) brew install "$what" ;;
    esac
  done
}

if command -v apt-get >/dev/null; then
  install_with_apt
elif command -v brew >/dev/null; then
  install_with_brew
else
  say 'neither apt-get nor Homebrew is here: install them by hand and try again.'
  exit 1
fi
say 'installed'
