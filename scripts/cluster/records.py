"""The rules for the audit: it is one chain, and has exactly one record of each acknowledged change."""
from collections import Counter

from history import audit_records, changes, name

# The first record follows a hash of zeros.
START = "0" * 64

# The actions that happen at most once to a subject in the clients' requests.
ONCE = {"merchantAdded": "merchantIdentifier", "certificateStored": "publicKeyHash", "keyPromoted": "publicKeyHash",
        "keyRevoked": "publicKeyHash", "rollStarted": "after", "rollFinished": "before", "rollAbandoned": "before"}


def check_chain(records, previous=None):
    """Returns the violations in a range of the chain.

    - Parameter previous: the record before the range; None if the range begins with the first record.
    """
    found = []
    for record in records:
        sequence, digest = (previous["sequence"], previous["hash"]) if previous else (0, START)
        if record["sequence"] != sequence + 1:
            found.append(f'the audit record {record["sequence"]} follows {sequence}')
        elif record["previousHash"] != digest:
            found.append(f'the audit record {record["sequence"]} does not have the hash of the record before it')
        previous = record
    return found


def subject(record):
    """The subject of a record whose action is in ONCE, written as in the history."""
    text = record.get(ONCE[record["action"]])
    return text.replace("roll ", "roll/") if text and text.startswith("roll ") else text


def check_records(records, history):
    """Returns the violations: a change with two records, or an acknowledged change without a record."""
    count = Counter((record["action"], subject(record)) for record in records if record["action"] in ONCE)
    found = [f"the audit has {n} records {action} of {of}" for (action, of), n in count.items() if n > 1]
    return found + [f"the audit has no record {place[0]} of {place[1]} for {name(change)}"
                    for change in changes(history) for place in audit_records(change) if not count[place]]
