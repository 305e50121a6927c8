"""The rules for the answers to clients: claims, uses of revoked keys, acknowledged changes, and refusals."""
from collections import defaultdict

from history import LEVELS, attempted, changes, done, name, revocations, states, validate


def check_answers(history, nodes):
    """Returns every violation as a sentence.

    - Parameter nodes: the daemons on which all changes were read back at the end of the history.
    """
    validate(history)
    return [*_claimed_twice(history), *_claims_lost(history, nodes), *_used_after_revocation(history),
            *_stale(history), *_not_read_back(history, nodes), *_revoked_without_request(history),
            *_refused_wrongly(history)]


def _claimed_twice(history):
    """Each token is claimed at most once, on all daemons together."""
    won = defaultdict(list)
    for claim in done(history, "claim"):
        won[claim["subject"]].append(claim)
    for claims in won.values():
        if len(claims) > 1:
            yield "claimed more than once: " + ", ".join(map(name, claims))


def _claims_lost(history, nodes):
    """After a token was claimed, each daemon refuses to claim it.

    A revoked key hides whether its tokens are claimed.
    """
    hidden = {key for operation, key in revocations(history) if operation["outcome"] != "refused"}
    refused = defaultdict(list)
    for claim in history:
        if claim["kind"] == "claim" and claim.get("code") == "tokenAlreadyClaimed":
            refused[claim["subject"], claim["node"]].append(claim["begin"])
    for claim in done(history, "claim"):
        if claim["key"] in hidden:
            continue
        for node in nodes:
            if not any(begin > claim["end"] for begin in refused[claim["subject"], node]):
                yield f"no later claim on {node} was refused: {name(claim)}"


def _used_after_revocation(history):
    """A request that is sent after a revocation was acknowledged does not use the key."""
    first = {}
    for revocation, key in revocations(changes(history)):
        if key not in first or revocation["end"] < first[key]["end"]:
            first[key] = revocation
    for use in done(history, "use", "claim"):
        revocation = first.get(use["key"])
        if revocation and use["begin"] > revocation["end"]:
            yield f"{name(use)} used the key after {name(revocation)}"


def _acknowledged(history):
    """For each subject, the acknowledged changes, each with the lowest state that the subject can have after the
    change."""
    lowest = defaultdict(list)
    for change in changes(history):
        for subject, state in states(change):
            lowest[subject].append((change, state))
    return lowest


def _stale(history):
    """A read that begins after a change was acknowledged shows the change."""
    lowest = _acknowledged(history)
    for read in done(history, "read"):
        for change, state in lowest[read["subject"]]:
            if read["begin"] > change["end"] and LEVELS[read["state"]] < LEVELS[state]:
                yield f'lost: {name(read)} shows {read["state"]} after {name(change)}'


def _not_read_back(history, nodes):
    """Each subject of an acknowledged change is read on each daemon after the last change of it."""
    last_read = defaultdict(float)
    for read in done(history, "read"):
        place = (read["subject"], read["node"])
        last_read[place] = max(last_read[place], read["begin"])
    for subject, found in _acknowledged(history).items():
        last = max((change for change, _ in found), key=lambda change: change["end"])
        for node in nodes:
            if last_read[subject, node] <= last["end"]:
                yield f"not read back on {node}: {subject} after {name(last)}"


def _revoked_without_request(history):
    """A key is revoked only if a client has requested the revocation."""
    first = {}
    for revocation, key in revocations(attempted(history, "revoke", "finish")):
        first[key] = min(first.get(key, revocation["begin"]), revocation["begin"])
    for operation in history:
        if operation["kind"] == "read" and operation.get("state") == "revoked":
            key = operation["subject"]
        elif operation.get("code") == "keyRevoked":
            key = operation.get("key", operation["subject"])
        else:
            continue
        if operation["end"] < first.get(key, float("inf")):
            yield f"{name(operation)} found the key revoked, but no client had requested the revocation"


def _refused_wrongly(history):
    """Clients ask only for what is permitted. So a daemon refuses a request only because the key is revoked, or because
    a client has sent a claim of the token before."""
    claims = defaultdict(list)
    for claim in attempted(history, "claim"):
        claims[claim["subject"]].append(claim["begin"])
    for operation in history:
        if operation["outcome"] != "refused" or operation["kind"] == "delivery":
            continue
        code = operation.get("code")
        if operation["kind"] in {"use", "claim"} and code == "keyRevoked":
            continue
        if operation["kind"] == "claim" and code == "tokenAlreadyClaimed":
            if not any(begin < operation["end"] for begin in claims[operation["subject"]]):
                yield f"{name(operation)} was refused, but no client had claimed the token"
            continue
        yield f"{name(operation)} was refused with {code}"
