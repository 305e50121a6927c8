# Functions for scripts/bench and scripts/bench-postgresql: start daemons, insert many merchants, send load, print
# figures. These scripts source this file after lib.sh, and call bench_directory first.
# shellcheck shell=bash
# Some functions return a result in a variable, which the scripts use.
# shellcheck disable=SC2034
bench_merchant=merchant.com.example.bench
bin=$PWD/.build/release
seconds=${BENCH_SECONDS:-5}

# bench_directory: creates the temporary directory $work. At the end of the script all processes end, and the
# directory is removed.
bench_directory() {
  work=$(mktemp -d "${TMPDIR:-/tmp}/merchantkeyd-bench.XXXXXX")
  # The processes of the daemons, of nginx and of the load programs, by name.
  declare -gA processes=()
  trap bench_finish EXIT
}

bench_finish() {
  local name
  for name in "${!processes[@]}"; do
    kill "${processes[$name]}" 2>/dev/null && wait "${processes[$name]}" 2>/dev/null || true
  done
  [ -z "${postgresql_input:-}" ] || stop_postgresql || true
  rm -rf "$work"
}

programs() { python3 scripts/bench-programs.py "$@"; }

# on DAEMON ARGUMENT...: runs merchantkeyctl on the daemon with this name.
on() { "$bin/merchantkeyctl" --socket "$work/$1/admin.sock" "${@:2}"; }

# ask DAEMON PATH: sends a request to the admin socket of the daemon.
ask() { curl -sf --unix-socket "$work/$1/admin.sock" "http://localhost$2"; }

url_hash() { tr '+/' '-_' <<<"$1" | tr -d '='; }

# write_settings DAEMON: writes the settings of a daemon on SQLite.
write_settings() {
  printf 'environment: sandbox\ntrust:\n  token-roots: [%s]\nlog:\n  level: warning\n' "$work/apple/root.pem" \
    >"$work/$1.yaml"
}

# start_daemon DAEMON: sets `started` to the milliseconds from exec to the first response on the decryptor socket.
start_daemon() {
  local name=$1 begin
  begin=$(date +%s%N)
  "$bin/merchantkeyd" --config "$work/$name.yaml" --state-directory "$work/$name" 2>>"$work/$name.log" &
  processes[$name]=$!
  until curl -s -o /dev/null --unix-socket "$work/$name/decryptor.sock" http://localhost/v1/health; do
    kill -0 "${processes[$name]}" 2>/dev/null \
      || { cat "$work/$name.log" >&2; die "the daemon stopped during its start"; }
    sleep 0.01
  done
  started=$((($(date +%s%N) - begin) / 1000000))
}

stop_daemon() {
  kill "${processes[$1]}" && wait "${processes[$1]}" || true
  unset "processes[$1]"
}

# resident_memory DAEMON: prints the resident memory in MB.
resident_memory() { awk '/VmRSS/ { printf "%.0f", $2 / 1024 }' "/proc/${processes[$1]}/status"; }

# create_bench_key: creates the sandbox's certificate authority, and the one real key with its certificate. Sets
# `bench_path` to the path at which decryptors find the key.
create_bench_key() {
  mkdir -p "$work/apple"
  "$bin/applepay-sandbox" init --directory "$work/apple" >/dev/null
  openssl req -new -nodes -subj /CN=bench -newkey ec -pkeyopt ec_paramgen_curve:P-256 -keyout "$work/key.pem" \
    -out "$work/key.csr" 2>/dev/null
  "$bin/applepay-sandbox" issue --csr "$work/key.csr" --merchant "$bench_merchant" --out "$work/key.cer" \
    --directory "$work/apple" >/dev/null
  bench_path=/v1/keys/$(openssl ec -in "$work/key.pem" -pubout -outform der 2>/dev/null \
    | openssl dgst -sha256 -binary | base64 | tr '+/' '-_' | tr -d '=')
}

# add_bench_merchant DAEMON: adds the merchant with the real key.
add_bench_merchant() {
  on "$1" merchant add "$bench_merchant" >/dev/null
  on "$1" key import "$bench_merchant" --private-key "$work/key.pem" --certificate "$work/key.cer" --state current \
    >/dev/null
}

# mint_tokens COUNT: mints payment tokens into the file tokens.json, one token on each line.
mint_tokens() {
  "$bin/applepay-sandbox" mint-token --certificate "$work/key.cer" --out "$work/tokens.json" \
    --directory "$work/apple" --count "$1"
}

# load NAME SOCKETS ARGUMENT...: runs h2load with HTTP/1.1 on each of the Unix sockets at the same time, for $seconds.
# Prints and records the rate, p50, p99 and refusals of all sockets together.
load() {
  local name=$1 socket sockets number=0 failed=
  read -ra sockets <<<"$2"
  shift 2
  rm -f "$work"/load.*.log
  for socket in "${sockets[@]}"; do
    number=$((number + 1))
    # If a connection fails, h2load waits forever; hence the time limit.
    timeout $((seconds + 30)) h2load --h1 -t 1 -c 16 -D "$seconds" --warm-up-time 1 \
      --log-file "$work/load.$number.log" -B "unix:$socket" "$@" >"$work/load.$number.out" 2>&1 &
    processes[load.$number]=$!
  done
  for number in $(seq ${#sockets[@]}); do
    wait "${processes[load.$number]}" || { cat "$work/load.$number.out" >&2; failed=yes; }
    unset "processes[load.$number]"
  done
  [ -z "$failed" ] || die "h2load failed on $name"
  programs report "$name" "$seconds" "$work/rates" "$work"/load.*.log
}

# load_once NAME URIS SOCKET: requests each URI of the file once, over 16 connections. Does not use h2load, because each
# of its connections requests the whole list: 15 of 16 requests would find their key in the daemon's memory.
load_once() { programs send "$1" "$work/rates" "$2" uris 0 16 "$3"; }

# token_load NAME TOKENS CLAIM CONNECTIONS SOCKET...: sends the payment tokens of the file, each once, to the
# decryptor sockets for $seconds. CLAIM is true or false.
token_load() { programs send "$1" "$work/rates" "$2" "$3" "$seconds" "${@:4}"; }

rate() { awk -F'\t' -v name="$1" '$1 == name { print $2 }' "$work/rates"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }

# import_merchants DAEMON PREFIX COUNT: imports merchants with two key pairs and CSR files each. Sets `imported` to the
# merchants a second.
import_merchants() {
  local begin
  { echo merchantIdentifier && seq -f "merchant.com.example.$2.m%07.0f" "$3"; } >"$work/import.csv"
  rm -rf "$work/csr"
  begin=$(date +%s%N)
  on "$1" merchant import "$work/import.csv" --generate-keys --csr-directory "$work/csr" \
    >/dev/null 2>"$work/import.log" \
    || { cat "$work/import.log" >&2; die "the import failed"; }
  imported=$(awk -v count="$3" -v ns="$(($(date +%s%N) - begin))" 'BEGIN { printf "%.0f", count * 1e9 / ns }')
}

# time_lists MERCHANTS DAEMON...: prints the duration of the status and of every list on each daemon: the fastest of
# five requests. The requests alternate between the daemons.
time_lists() {
  local merchants=$1 middle key list
  shift
  middle=$bench_merchant.m$(printf %07d $((merchants / 2)))
  key=$(url_hash "$(ask "$1" "/v1/merchants/$middle/keys" | jq -r '.items[0].publicKeyHash')")
  for list in /v1/status /v1/merchants "/v1/merchants/$middle/keys" "/v1/keys?state=current" "/v1/keys?state=pending" \
    /v1/rolls "/v1/rolls?state=open" "/v1/rolls?state=quiet" "/v1/rolls?state=finished" "/v1/rolls?merchant=$middle" \
    /v1/events "/v1/events?newest=true" "/v1/events?kind=rollFinished" \
    "/v1/events?kind=keyPromoted&severity=warning" "/v1/events?merchant=$middle" \
    /v1/audit "/v1/audit?merchant=$middle" "/v1/audit?key=$key" \
    "/v1/audit?caller=$(id -u)" /v1/registrations /metrics; do
    time_on "GET ${list/$key/KEY}" ask "$list" "$@"
  done
  time_on "merchantkeyctl status" on status "$@"
  time_on "merchantkeyctl status --check" check_status "" "$@"
}

check_status() { on "$1" status --check || [ $? -le 2 ]; }

# time_on NAME FUNCTION ARGUMENT DAEMON...: prints the duration of the fastest of five calls of the function on each
# daemon.
time_on() {
  local name=$1 function=$2 argument=$3 begin took daemon
  local -A best=()
  shift 3
  for _ in 1 2 3 4 5; do
    for daemon in "$@"; do
      begin=$(date +%s%N)
      "$function" "$daemon" "$argument" >/dev/null || die "failed on $daemon: $name"
      took=$(($(date +%s%N) - begin))
      if [ -z "${best[$daemon]:-}" ] || [ "$took" -lt "${best[$daemon]}" ]; then best[$daemon]=$took; fi
    done
  done
  printf '  %-58s' "$name"
  for daemon in "$@"; do
    awk -v ns="${best[$daemon]}" 'BEGIN { printf " %8.1f ms", ns / 1e6 }'
    awk -v name="$name" -v daemon="$daemon" -v ns="${best[$daemon]}" \
      'BEGIN { printf "%s, %s\t%f\n", name, daemon, ns / 1e6 }' >>"$work/rates"
  done
  if [ $# -eq 2 ]; then printf '   ratio %s' "$(ratio "${best[$2]}" "${best[$1]}")"; fi
  printf '\n'
}
