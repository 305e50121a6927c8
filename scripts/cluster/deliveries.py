"""The rules for events: what the webhook received, compared with the changes and with the events that daemons show."""
import json
from collections import defaultdict

from history import attempted, changes, done, events, name, revocations

# The kinds of events that are raised at most once for a subject, and the field that names the subject. The subject of
# the event auditHead is the head, which `detail` contains. A request for a revoked key is reported once a day.
ONCE = {"certificateStored": "publicKeyHash", "keyPromoted": "publicKeyHash", "keyRevoked": "publicKeyHash",
        "switchObserved": "publicKeyHash", "revokedKeyRequested": "publicKeyHash", "standbyKeyUsed": "publicKeyHash",
        "rollStarted": "rollId", "rollFinished": "rollId", "rollAbandoned": "rollId", "auditHead": "detail"}


def check_deliveries(deliveries):
    """Returns the violations that deliveries show by themselves. They may come from one daemon or from several."""
    received = sorted(deliveries, key=lambda delivery: delivery["begin"])
    return [*_not_genuine(received), *_different(received), *_two_events(received), *_out_of_order(received)]


def check_delivered(deliveries, history, stored):
    """Returns the violations of deliveries that are later than the history and the stored events.

    - Parameter stored: for each daemon, the list of events that it shows.
    """
    return [*_missing(deliveries, history, stored), *_revoked_without_request(deliveries, history)]


def check_stored(deliveries, stored):
    """Returns the violations of deliveries that are earlier than the stored events."""
    return [*_not_stored(deliveries, stored)]


def undelivered(deliveries, stored):
    """The ids of the stored events that the webhook has not acknowledged."""
    acknowledged = {delivery["subject"] for delivery in done(deliveries, "delivery")}
    return {event["id"] for listed in stored.values() for event in listed} - acknowledged


def event(delivery):
    # A delivery is read again in each round, so its event is kept.
    if "event" not in delivery:
        delivery["event"] = json.loads(delivery["body"])
    return delivery["event"]


def subject(event):
    """The kind and the subject of an event that is raised once, written as in the history; None for other events."""
    if event["kind"] not in ONCE:
        return None
    text = event.get(ONCE[event["kind"]])
    return event["kind"], f"roll/{text}" if ONCE[event["kind"]] == "rollId" else text


def _not_genuine(received):
    for delivery in received:
        if not delivery["genuine"]:
            yield f"the signature is wrong: {name(delivery)}"


def _different(received):
    """An event is the same in all its deliveries."""
    first = {}
    for delivery in received:
        same = first.setdefault(delivery["subject"], delivery)
        if same["body"] != delivery["body"]:
            yield f"the event differs: {name(same)}, {name(delivery)}"


def _two_events(received):
    """A change is one event, whichever daemons deliver it, and each event has a sequence of its own."""
    ids = defaultdict(dict)
    for delivery in received:
        found = event(delivery)
        places = [("sequence", found["sequence"])] + ([subject(found)] if subject(found) else [])
        for place in places:
            ids[place].setdefault(delivery["subject"], delivery)
    for (kind, of), found in ids.items():
        if len(found) > 1:
            yield f"{len(found)} events with the {kind} {of}: " + ", ".join(map(name, found.values()))


def _out_of_order(received):
    """Before an event is first sent, the webhook has acknowledged every earlier event of the merchant.

    Repetitions may arrive in any order. An event of no merchant has a queue of its own.
    """
    lanes = defaultdict(lambda: defaultdict(list))
    for delivery in received:
        found = event(delivery)
        lanes[found.get("merchantIdentifier")][found["sequence"]].append(delivery)
    for lane in lanes.values():
        # Of the first acknowledgements of the events so far, the latest: its time, and its event.
        latest = None
        for sequence in sorted(lane):
            first = min(lane[sequence], key=lambda delivery: delivery["begin"])
            if latest and first["begin"] < latest[0]:
                yield f"sent before {latest[1]} was acknowledged: {name(first)}"
            ends = [delivery["end"] for delivery in lane[sequence] if delivery["outcome"] == "done"]
            acknowledged = (min(ends, default=float("inf")), f'{event(first)["kind"]} {first["subject"]}')
            latest = max(latest, acknowledged) if latest else acknowledged


def _missing(deliveries, history, stored):
    """The webhook has acknowledged the events of each acknowledged change, and each stored event."""
    acknowledged = done(deliveries, "delivery")
    found = {subject(event(delivery)) for delivery in acknowledged}
    for change in changes(history):
        for place in events(change):
            if place not in found:
                yield f"{name(change)} caused the event {place[0]} of {place[1]}, which was not delivered"
    for identifier in sorted(undelivered(deliveries, stored)):
        yield f"the stored event {identifier} was not delivered"


def _not_stored(deliveries, stored):
    """Each event that was sent is stored, as it was sent, on each daemon."""
    sent = {delivery["subject"]: delivery for delivery in deliveries}
    for node, listed in stored.items():
        by_id = {event["id"]: event for event in listed}
        for identifier, delivery in sent.items():
            if by_id.get(identifier) != event(delivery):
                yield f"{node} does not show the event: {name(delivery)}"


def _revoked_without_request(deliveries, history):
    requested = {key for _, key in revocations(attempted(history, "revoke", "finish"))}
    for delivery in deliveries:
        found = event(delivery)
        if found["kind"] == "keyRevoked" and found["publicKeyHash"] not in requested:
            yield f"no client has requested the revocation: {name(delivery)}"
