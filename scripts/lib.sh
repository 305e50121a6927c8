# Functions for the other scripts: install missing packages, build, run tests. The scripts source this file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# hide_test_variables: keeps the variables of the tests, such as MERCHANTKEYD_FIXTURES, in this script, but out of the
# environment of the programs that it starts. The daemon refuses to start with a variable MERCHANTKEYD_… that is not a
# setting.
hide_test_variables() {
  local name
  for name in "${!MERCHANTKEYD_@}"; do export -n "${name?}"; done
}

# can_be_root: succeeds if as_root can run commands: as root, or with sudo without a password.
can_be_root() { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }

# as_root COMMAND...: runs the command as root, with sudo if the user is not root.
as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi; }

# need_packages NAME...: installs the Debian packages that are missing, or stops with the command that installs them.
need_packages() {
  local missing=() name
  for name in "$@"; do
    dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return
  command -v apt-get >/dev/null \
    || die "this system has no apt-get; install the equivalents of these Debian packages: ${missing[*]}"
  can_be_root \
    || die "packages are missing, and only root can install them; run: sudo apt-get install --no-install-recommends ${missing[*]}"
  say "installing ${missing[*]}"
  { as_root apt-get update -qq \
    && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >&2 \
    || die "the installation failed; run: sudo apt-get install --no-install-recommends ${missing[*]}"
}

# need_commands COMMAND=PACKAGE...: installs the packages whose command is not on PATH, as need_packages does.
need_commands() {
  local missing=() pair
  for pair in "$@"; do command -v "${pair%%=*}" >/dev/null || missing+=("${pair#*=}"); done
  [ ${#missing[@]} -eq 0 ] || need_packages "${missing[@]}"
}

need_toolchain() {
  command -v swift >/dev/null \
    || die "there is no Swift toolchain: install Swift 6.2 or newer from https://www.swift.org/install/linux and put its usr/bin on PATH"
  need_packages libssl-dev libsqlite3-dev libpq-dev
}

# need_python: puts a python3 on PATH that has the packages of Tests/requirements.txt. If the installed python3 lacks
# these packages, installs them into a virtual environment in .build/python.
need_python() {
  local environment=$PWD/.build/python
  has_modules() { "$1" -c 'import axe_core_python, cryptography.x509, jsonschema, openapi_spec_validator, schemathesis, selenium, sqlite3, yaml' 2>/dev/null; }
  if ! has_modules python3; then
    if ! has_modules "$environment/bin/python3"; then
      need_packages python3 python3-venv
      say "installing Python packages into .build/python"
      { /usr/bin/python3 -m venv --clear "$environment" \
        && "$environment/bin/pip" install --quiet --disable-pip-version-check --requirement Tests/requirements.txt; } >&2 \
        || die "Python packages are missing; run: /usr/bin/python3 -m venv --clear .build/python && .build/python/bin/pip install --requirement Tests/requirements.txt"
    fi
    export PATH=$environment/bin:$PATH
  fi
}

# need_promtool: puts promtool on PATH. Does not install Debian's package prometheus, which contains promtool, because
# the installation would start a server. Unpacks promtool from the package into .build/promtool instead.
need_promtool() {
  ! command -v promtool >/dev/null || return 0
  local directory=$PWD/.build/promtool work
  if [ ! -x "$directory/promtool" ]; then
    command -v apt-get >/dev/null || die "this system has no apt-get; install promtool, which is part of Prometheus"
    say "unpacking promtool into .build/promtool"
    mkdir -p "$directory"
    work=$(mktemp -d "$directory/package.XXXXXX")
    (
      download() { apt-get download -qq -o "APT::Sandbox::User=$(id -un)" prometheus; }
      cd "$work" && { download 2>/dev/null || { can_be_root && as_root apt-get update -qq && download; }; } \
        && dpkg-deb --extract prometheus_*.deb . && mv usr/bin/promtool "$directory/promtool"
    ) >&2 || { rm -rf "$work"; die "promtool cannot be downloaded; run: sudo apt-get update && sudo apt-get install prometheus"; }
    rm -rf "$work"
  fi
  export PATH=$directory:$PATH
}

# need_postgresql: installs PostgreSQL. The tests start servers of their own. Debian's package would also create a database
# cluster and start a server for it; a setting prevents that during the installation.
need_postgresql() {
  local program status=0 setting=/etc/postgresql-common/createcluster.d/merchantkeyd-tests.conf
  for program in /usr/lib/postgresql/*/bin/initdb; do [ ! -x "$program" ] || return 0; done
  ! command -v initdb >/dev/null || return 0
  can_be_root || need_packages postgresql
  need_packages postgresql-common
  as_root mkdir -p "${setting%/*}"
  as_root tee "$setting" <<<'create_main_cluster = false' >/dev/null
  (need_packages postgresql) || status=1
  as_root rm -f "$setting"
  return "$status"
}

# start_postgresql SETTING=VALUE...: starts a PostgreSQL server with these settings in a temporary directory, on a Unix socket
# only. If the user is root, the server runs as the user nobody. Its superuser is merchantkeyd, who needs no password. Sets
# postgresql_directory to the directory of the socket. The server ends with stop_postgresql or with the script, also if the
# script is killed.
start_postgresql() {
  need_commands python3=python3
  need_postgresql
  coproc postgresql { exec python3 Tests/MerchantTestSupport/Scripts/postgres-server.py "$@"; }
  postgresql_process=$!
  postgresql_input=${postgresql[1]}
  read -r postgresql_directory postgresql_psql <&"${postgresql[0]}" || die "the PostgreSQL server did not start"
}

stop_postgresql() {
  exec {postgresql_input}>&-
  wait "$postgresql_process"
}

# sql DATABASE ARGUMENT...: runs psql in a database of the server, as the superuser, with further arguments of psql.
sql() {
  "$postgresql_psql" --no-psqlrc --quiet --tuples-only --no-align --set=ON_ERROR_STOP=1 \
    "host=$postgresql_directory user=merchantkeyd dbname=$1" "${@:2}"
}

# need_browser: installs Chromium, in which tests use the portal's pages. Where the system has no such packages, as on
# Ubuntu, the tests are skipped.
need_browser() {
  if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then return; fi
  if command -v apt-cache >/dev/null && [ -n "$(apt-cache madison chromium-driver)" ]; then
    need_packages chromium chromium-driver
  else
    say "there is no package chromium-driver: tests of the portal in a browser are skipped"
  fi
}

# need_test_tools: installs every program that the tests run, so that no test is skipped because of a missing program.
# Does not install the runtimes of the example clients in docs/examples: only clients with a runtime are tested. Java is
# an exception: tests of 'key import-all' need keytool, which is in the same package as javac.
need_test_tools() {
  need_commands openssl=openssl curl=curl strace=strace cc=gcc jq=jq testssl=testssl.sh javac=default-jdk-headless
  need_packages libc6-dev
  need_python
  need_promtool
  need_postgresql
  need_browser
  local runtime missing=()
  for runtime in go node php; do command -v "$runtime" >/dev/null || missing+=("$runtime"); done
  [ ${#missing[@]} -eq 0 ] || say "example clients without a runtime here are not tested: ${missing[*]}"
}

# step TEXT: prints the heading of a step, with its number.
step_number=0
step() { step_number=$((step_number + 1)); printf '\n%2d. %s\n' "$step_number" "$*"; }

# shows TEXT: prints what the step shows.
shows() { printf '    shows: %s\n' "$*"; }

# until_true MESSAGE COMMAND...: repeats the command until it succeeds, for up to 20 seconds.
until_true() {
  for _ in $(seq 200); do
    if "${@:2}"; then return 0; fi
    sleep 0.1
  done
  die "$1"
}

# Programs and tests are built in the same configuration, so that the code is compiled only once.
SWIFT_FLAGS=(-c release --explicit-target-dependency-import-check error)

build() {
  need_toolchain
  say "building (the first time takes 5 to 10 minutes)"
  swift build "${SWIFT_FLAGS[@]}" --build-tests >&2
}

# build_static: builds the programs with the Swift runtime linked statically, in .build/static. Needs a build of its own,
# because such a build has no tests: https://github.com/swiftlang/swift-package-manager/issues/5590.
build_static() {
  local name
  need_toolchain
  # URLSession of the Swift runtime needs libcurl.
  need_packages libcurl4-openssl-dev zlib1g-dev
  say "building with the Swift runtime linked statically (the first time takes about 10 minutes)"
  for name in merchantkeyd merchantkeyctl applepay-sandbox; do
    swift build "${SWIFT_FLAGS[@]}" --static-swift-stdlib --scratch-path .build/static --product "$name" >&2
  done
}

# run_slow_test FILTER: builds, and runs the tests whose names match FILTER. Fails if no test matches, for example after
# a test was renamed.
run_slow_test() {
  local log status=0
  need_toolchain
  need_test_tools
  build
  log=$(mktemp)
  swift test "${SWIFT_FLAGS[@]}" --skip-build --no-parallel --filter "$1" 2>&1 | tee "$log" || status=1
  ! grep -q 'Test run with 0 tests' "$log" || { say "error: no test matches '$1'"; status=1; }
  rm -f "$log"
  return "$status"
}
