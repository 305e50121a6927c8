"""Asks the daemons for the audit and the events, and checks a history with them."""
import random, time

from answers import check_answers
from deliveries import check_delivered, check_deliveries, check_stored, event, undelivered
from history import CHANGES, attempted, changes, states
from records import check_chain, check_records


class Inspection:
    """Checks each round, and all rounds together at the end."""

    def __init__(self, cluster):
        self.cluster, self.nodes = cluster, [daemon.name for daemon in cluster.daemons]
        self.records, self.changes = [], []
        self.events = {node: [] for node in self.nodes}

    def check(self, played):
        """Returns the violations of a round. All daemons are healthy."""
        self.changes += attempted(played.history, *CHANGES)
        return [*check_answers(played.history, self.nodes), *self._check_audit(played),
                *check_deliveries(self._of(played, self.cluster.webhook.read()))]

    def check_events(self, played, limit=60):
        """Returns the violations of the events of a round.

        - Parameter limit: how many seconds to wait for events that the webhook has not received yet.
        """
        self._read_events()
        stored = {node: [e for e in listed if e.get("merchantIdentifier") in played.identifiers]
                  for node, listed in self.events.items()}
        deliveries = self._wait_for_deliveries(stored, limit)
        self._read_events()
        found = self._of(played, deliveries)
        return [*check_deliveries(found), *check_delivered(found, played.history, stored),
                *check_stored(found, self.events)]

    def check_all(self, limit=60):
        """Returns the violations of all rounds together: the whole audit, all events, all changes on all daemons."""
        found = []
        stored = {daemon.name: daemon.items("/v1/events", after=0) for daemon in self.cluster.daemons}
        deliveries = self._wait_for_deliveries(stored, limit)
        stored_later = {daemon.name: daemon.items("/v1/events", after=0) for daemon in self.cluster.daemons}
        found += [*check_deliveries(deliveries), *check_delivered(deliveries, self.changes, stored),
                  *check_stored(deliveries, stored_later)]
        for daemon in self.cluster.daemons:
            records = daemon.items("/v1/audit", order="oldestFirst")
            found += [*check_chain(records), *check_records(records, self.changes), *self._verify(daemon)]
            found += check_answers([*self.changes, *self._read_all(daemon)], [daemon.name])
        return found

    def _of(self, played, deliveries):
        return [delivery for delivery in deliveries
                if event(delivery).get("merchantIdentifier") in played.identifiers]

    def _check_audit(self, played):
        """Verifies the chain from the first record to the last, and compares the new records with the history."""
        daemon = random.choice(played.fault.healthy)
        found = self._verify(daemon)
        last = self.records[-1] if self.records else None
        since = {"since": last["at"]} if last else {}
        added = [record for record in daemon.items("/v1/audit", order="oldestFirst", **since)
                 if not last or record["sequence"] > last["sequence"]]
        self.records += added
        return [*found, *check_chain(added, last), *check_records(self.records[-10_000:], played.history)]

    def _verify(self, daemon):
        head = ["--head", f'{self.records[-1]["sequence"]}:{self.records[-1]["hash"]}'] if self.records else []
        try:
            daemon.control("audit", "verify", *head)
            return []
        except RuntimeError as error:
            return [f"the audit chain is broken on {daemon.name}: {error}"]

    def _read_events(self):
        for daemon in self.cluster.daemons:
            listed = self.events[daemon.name]
            listed += daemon.items("/v1/events", after=listed[-1]["sequence"] if listed else 0)

    def _wait_for_deliveries(self, stored, limit):
        deadline = time.monotonic() + limit
        while undelivered(deliveries := self.cluster.webhook.read(), stored) and time.monotonic() < deadline:
            time.sleep(0.1)
        return deliveries

    def _read_all(self, daemon):
        """Reads the state of each changed subject from the daemon's lists."""
        begin = time.monotonic()
        shown = {merchant["merchantIdentifier"]: "present" for merchant in daemon.items("/v1/merchants")}
        # In this order of states, a key whose state changes meanwhile is in at least one of the lists.
        for state in ["pending", "standby", "current", "retiring", "revoked"]:
            shown |= {key["publicKeyHash"]: state for key in daemon.items("/v1/keys", state=state)}
        shown |= {f'roll/{roll["rollId"]}': roll["state"] for roll in daemon.items("/v1/rolls")}
        return [{"kind": "read", "node": daemon.name, "subject": subject, "state": shown.get(subject, "absent"),
                 "begin": begin, "end": time.monotonic(), "outcome": "done"}
                for subject in {subject for change in changes(self.changes) for subject, _ in states(change)}]
