# The test installation on which the commands of the documents act (sourced, never run).
#
# Expects: $programs, the directory of the programs; $scripts, that of this file; $documents, docs/; $work, an empty
# directory. The commands name the paths of an installed daemon, such as /run/merchantkeyd; the test has replaced them
# by paths under $work.
set -euo pipefail
PATH=$programs:$PATH
export MERCHANTKEYD_SOCKET=$work/run/admin.sock XDG_STATE_HOME=$work/state-home
mkdir -p "$work/run" "$work/etc/trust" "$work/backups" "$work/apple" "$work/here"
mkdir -m 0700 "$work/state"
cd "$work/here"
printf 'a secret for webhooks in tests\n' >"$work/etc/ops.secret"
chmod 0600 "$work/etc/ops.secret"

merchant=merchant.com.example.shop
daemon='' gateway='' site='' place=''

apple() { applepay-sandbox "$@" --directory "$work/apple"; }

# settings: writes the settings, and appends standard input to them.
settings() {
  {
    printf 'environment: sandbox\nstate-directory: %s/state\n' "$work"
    printf 'sockets:\n  admin: {path: %s/run/admin.sock}\n  decryptor: {path: %s/run/decryptor.sock}\n' "$work" "$work"
    printf 'trust:\n  token-roots: [%s/apple/root.pem]\n' "$work"
    printf '  certificate-issuers: [%s/apple/processing-issuer.pem, %s/apple/identity-issuer.pem, %s/apple/root.pem]\n' \
      "$work" "$work" "$work"
    cat
  } >"$work/etc/merchantkeyd.yaml"
}

start_daemon() {
  merchantkeyd --config "$work/etc/merchantkeyd.yaml" --state-directory "$work/state" 2>>"$work/daemon.log" &
  daemon=$!
  await_daemon
}

# await CONDITION: evaluates it until it is true, for at most half a minute.
await() {
  for _ in $(seq 600); do
    ! eval "$1" >/dev/null 2>&1 || return 0
    sleep 0.05
  done
  echo "not within half a minute: $1" >&2
  return 1
}

# Exit status 3 of merchantkeyctl means that the daemon cannot be reached.
answers() {
  local status=0
  merchantkeyctl merchant list >"$work/answer" 2>&1 || status=$?
  [ "$status" != 3 ]
}

# await_daemon: returns once the daemon answers. Fails with a reason if the daemon exits or does not answer within half a minute.
await_daemon() {
  local attempt
  for attempt in $(seq 600); do
    ! answers || return 0
    if ! kill -0 "$daemon" 2>/dev/null; then
      local status=0
      wait "$daemon" || status=$?
      daemon=''
      echo "the daemon ended with status $status" >&2
      return 1
    fi
    sleep 0.05
  done
  echo "the daemon did not answer in $attempt attempts: $(cat "$work/answer")" >&2
  return 1
}

stop_daemon() {
  kill -TERM "$daemon"
  wait "$daemon"
  daemon=
}

# certificate CSR CER [OPTION...]: has the sandbox sign the CSR.
certificate() {
  local csr=$1 out=$2
  shift 2
  apple issue --csr "$csr" --merchant "$merchant" --out "$out" "$@" >/dev/null
}

# next_second: waits for the next second. The daemon promotes a new key only if its certificate begins later than the
# current one's, and certificates have whole seconds.
next_second() {
  local second
  second=$(date +%s)
  await "[ \$(date +%s) -gt $second ]"
}

# token CER FILE [OPTION...]: a payment token encrypted to a certificate's key.
token() {
  local cer=$1 out=$2
  shift 2
  apple mint-token --certificate "$cer" --out "$out" "$@" >/dev/null
}

# certified_key NAME: generates a key pair, uploads its certificate NAME.cer, and prints the publicKeyHash.
certified_key() {
  merchantkeyctl key generate "$merchant" --csr "$1.csr" --output json | jq -r .publicKeyHash
  certificate "$1.csr" "$1.cer"
  merchantkeyctl certificate upload "$1.cer" >/dev/null
}

finish() {
  local status=$?
  # SIGKILL, because Swift's Process starts a process with SIGTERM blocked, and Python does not unblock SIGTERM.
  for process in $gateway $site; do kill -KILL "$process" 2>/dev/null || true; done
  if [ -n "$daemon" ] && kill "$daemon" 2>/dev/null; then wait "$daemon" || true; fi
  [ "$status" -eq 0 ] || echo "failed with exit status $status in the block at $place" >&2
  if [ "$status" -ne 0 ] && [ -s "$work/daemon.log" ]; then
    echo "--- the daemon's log" >&2
    tail -20 "$work/daemon.log" >&2
  fi
}
trap finish EXIT

apple init >/dev/null 2>&1
settings </dev/null
