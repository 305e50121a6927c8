"""Parts of made-up histories for the tests of the checker."""
import json


def operation(kind, subject, begin, end=None, outcome="done", node="one", key=None, code=None):
    made = {"kind": kind, "subject": subject, "begin": begin, "outcome": outcome, "node": node}
    return made | {name: value for name, value in [("end", end), ("key", key), ("code", code)] if value is not None}


def read(subject, begin, end, state, node="one"):
    return {**operation("read", subject, begin, end, node=node), "state": state}


def event(identifier, sequence, kind="keyRevoked", merchant="m", **fields):
    subject = {"publicKeyHash": "k"} if kind.startswith("key") else {}
    place = {} if merchant is None else {"merchantIdentifier": merchant}
    return {"id": identifier, "sequence": sequence, "kind": kind, **place, **subject, **fields}


def delivery(event, begin, end, outcome="done", node="one", genuine=True):
    return {**operation("delivery", event["id"], begin, end, outcome, node), "genuine": genuine,
            "body": json.dumps(event, sort_keys=True)}


def record(sequence, previous, action="requestsRefused", **fields):
    return {"sequence": sequence, "previousHash": previous, "hash": f"hash{sequence}", "action": action, **fields}
