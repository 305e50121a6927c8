"""The history of a cluster: what clients asked the daemons and what they were answered, and what the webhook received.

An operation is a dictionary, and a history is a list of them:

    kind      a change: add (a merchant), certify (store a certificate), start (a roll), promote (a key), finish (a
              roll), revoke (a key); or claim (decrypt a token and claim it), use (decrypt without a claim), read (the
              state of a subject), delivery (an event that the webhook received)
    node      the daemon that was asked, or that sent the event
    subject   add: the merchant. certify, promote, revoke: the publicKeyHash. start, finish: `roll/` and the rollId; for
              a start whose outcome is not `done`, the merchant. claim, use: the number of the token. delivery: the
              event's id
    key       a publicKeyHash. claim, use: the key of the token. start: the new key. finish: the old key, which the
              request revokes
    state     only for read: `absent`, `present` (a merchant), or the state of a key or a roll
    body      only for delivery: the text of the event; `genuine` says whether its signature is valid
    begin     when the request was sent, in seconds of one clock for all clients and the webhook. delivery: when the
              webhook received the request
    end       when the response was received, or the client stopped waiting; may be absent if no response was received.
              delivery: just before the webhook responded
    outcome   done, refused (the daemon says that nothing was done), or unknown (no response, or a status of 500 or more)
    code      the code of the problem, if the request was refused

The clients change each subject only in the order of LEVELS, and never change it back. So each acknowledged change gives
a lowest state, which every later read must show.

The rules use only what clients saw, so they do not depend on the daemon.
"""

CHANGES = {"add", "certify", "start", "promote", "finish", "revoke"}
KINDS = CHANGES | {"claim", "use", "read", "delivery"}
OUTCOMES = {"done", "refused", "unknown"}

# States from the lowest to the highest. The clients never abandon a roll.
LEVELS = {"absent": 0, "abandoned": 0, "present": 1,
         "pending": 1, "standby": 2, "current": 3, "retiring": 4, "revoked": 5,
         "started": 1, "certificateStored": 2, "promoted": 3, "quiet": 4, "finished": 5}


def validate(history):
    for operation in history:
        if operation["kind"] not in KINDS or operation["outcome"] not in OUTCOMES:
            raise ValueError(f"not an operation: {operation}")
        if operation["kind"] == "read" and operation["outcome"] == "done" and operation["state"] not in LEVELS:
            raise ValueError(f"not a state: {operation}")


def name(operation):
    span = f'{operation["begin"]:.3f} to {operation["end"]:.3f}' if "end" in operation else f'{operation["begin"]:.3f}'
    return f'{operation["kind"]} of {operation["subject"]} on {operation["node"]} ({span})'


def done(history, *kinds):
    return [operation for operation in history if operation["kind"] in kinds and operation["outcome"] == "done"]


def attempted(history, *kinds):
    """The operations that a daemon may have done."""
    return [operation for operation in history if operation["kind"] in kinds and operation["outcome"] != "refused"]


def changes(history):
    """The acknowledged changes."""
    return done(history, *CHANGES)


def states(change):
    """The subjects of a change, with the lowest state that each has afterwards."""
    subject, key = change["subject"], change.get("key")
    return {
        "add": lambda: [(subject, "present")], "certify": lambda: [(subject, "standby")],
        "start": lambda: [(subject, "started"), (key, "pending")], "promote": lambda: [(subject, "current")],
        "finish": lambda: [(subject, "finished"), (key, "revoked")], "revoke": lambda: [(subject, "revoked")],
    }[change["kind"]]()


def events(change):
    """The kinds and subjects of the events that a change causes."""
    subject, key = change["subject"], change.get("key")
    return {
        "add": lambda: [], "certify": lambda: [("certificateStored", subject)],
        "start": lambda: [("rollStarted", subject)], "promote": lambda: [("keyPromoted", subject)],
        "finish": lambda: [("rollFinished", subject), ("keyRevoked", key)], "revoke": lambda: [("keyRevoked", subject)],
    }[change["kind"]]()


def audit_records(change):
    """The actions and subjects of the audit records that a change causes."""
    return [("merchantAdded", change["subject"])] if change["kind"] == "add" else events(change)


def revocations(history):
    """The operations that revoke a key, with the key."""
    for operation in history:
        if operation["kind"] == "revoke":
            yield operation, operation["subject"]
        elif operation["kind"] == "finish":
            yield operation, operation["key"]
