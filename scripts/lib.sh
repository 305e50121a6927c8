# Shared by the scripts: what they need, and the one build configuration (sourced, never run).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# need_packages NAME...: installs the Debian packages that are missing, or says exactly what to install.
need_packages() {
  local missing=() name
  for name in "$@"; do
    dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null && sudo -n true 2>/dev/null \
      || die "these packages are missing and we are not root; run: sudo apt-get install ${missing[*]}"
    sudo=(sudo -n)
  fi
  command -v apt-get >/dev/null || die "apt-get is missing; install by hand: ${missing[*]}"
  say "installing ${missing[*]}"
  "${sudo[@]}" apt-get update -qq >&2
  DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

need_toolchain() {
  command -v swift >/dev/null \
    || die "there is no Swift toolchain: install Swift 6.2 or newer from https://www.swift.org/install/linux and put its usr/bin on PATH"
  need_packages libssl-dev libsqlite3-dev
}

# One configuration for programs and tests, so that a clone builds once.
SWIFT_FLAGS=(-c release --explicit-target-dependency-import-check error)

build() {
  need_toolchain
  say "building (the first time takes 5 to 10 minutes)"
  swift build "${SWIFT_FLAGS[@]}" --build-tests >&2
}
