"""The history of a cluster: what clients asked the daemons and what they were answered, and the rules that it must keep.

An operation is a dictionary, and a history is a list of them, written as lines of JSON:

    kind      add (a merchant), revoke (a key), claim (decrypt a token and claim it), use (decrypt without a claim), or
              delivery (an event that a webhook received)
    node      the daemon that was asked
    subject   the merchant, the publicKeyHash, or the number of the token; for a delivery the id of the event
    key       the publicKeyHash; only for claim and use
    begin     when the request was sent, in seconds of one clock for all clients
    end       when the response was received; absent if none was
    outcome   done, refused (the daemon says that nothing was done), or unknown (no response, or one that says so)

`check` returns every violation as a sentence. It uses only what clients saw, so it does not depend on the daemon.
"""
from collections import defaultdict

KINDS = {"add", "revoke", "claim", "use", "delivery"}
OUTCOMES = {"done", "refused", "unknown"}


class Final:
    """What the daemons say when all faults have ended."""

    def __init__(self, merchants, revoked, claimed, events):
        # Sets: the merchants, the keys that are revoked, the tokens whose claim is refused because they are claimed, and
        # the ids of all events.
        self.merchants, self.revoked, self.claimed, self.events = merchants, revoked, claimed, events


def check(history, final):
    for operation in history:
        if operation["kind"] not in KINDS or operation["outcome"] not in OUTCOMES:
            raise ValueError(f"not an operation: {operation}")
    return [*_claimed_twice(history), *_used_after_revocation(history), *_lost(history, final)]


def _name(operation):
    span = f'{operation["begin"]:.3f} to {operation["end"]:.3f}' if "end" in operation else f'{operation["begin"]:.3f}'
    return f'{operation["kind"]} of {operation["subject"]} on {operation["node"]} ({span})'


def _done(history, kind):
    return [operation for operation in history if operation["kind"] == kind and operation["outcome"] == "done"]


def _claimed_twice(history):
    """Each token is claimed at most once, on all daemons together."""
    won = defaultdict(list)
    for claim in _done(history, "claim"):
        won[claim["subject"]].append(claim)
    for claims in won.values():
        if len(claims) > 1:
            yield "claimed more than once: " + ", ".join(map(_name, claims))


def _used_after_revocation(history):
    """A request that is sent after a revocation was acknowledged does not use the key."""
    revoked = {}
    for revocation in _done(history, "revoke"):
        key = revocation["subject"]
        if key not in revoked or revocation["end"] < revoked[key]["end"]:
            revoked[key] = revocation
    for use in _done(history, "use") + _done(history, "claim"):
        revocation = revoked.get(use["key"])
        if revocation and use["begin"] > revocation["end"]:
            yield f"{_name(use)} used the key after {_name(revocation)}"


def _lost(history, final):
    """What was acknowledged is there at the end."""
    expected = [("add", final.merchants), ("revoke", final.revoked), ("claim", final.claimed), ("delivery", final.events)]
    for kind, present in expected:
        for operation in _done(history, kind):
            if operation["subject"] not in present:
                yield f"lost: {_name(operation)}"
