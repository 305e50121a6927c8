"""The figures of a run: what the clients of the daemons that did not fail noticed in each round."""
import collections, statistics

from history import CHANGES, done

KEY_CHANGES = CHANGES - {"add"}


class Figures:
    def __init__(self):
        self.operations, self.rounds = collections.Counter(), collections.defaultdict(list)
        self.violations = 0

    def add(self, played, seconds):
        """Adds a round, and returns its figures."""
        self.operations.update(f'{o["kind"]} {o["outcome"]}' for o in played.history)
        asked = during(played)
        figures = {
            "roundSeconds": seconds,
            "longestKeyChangeSeconds": max((o["end"] - o["begin"] for o in done(asked, *KEY_CHANGES)), default=0)}
        for kind, name in [("use", "Decryption"), ("claim", "Claim")]:
            # The key that is never revoked: requests for other keys may have to wait for the database.
            requests = [o for o in asked if o["kind"] == kind and o["key"] == played.lasting.hash]
            figures |= {f"secondsWithout{name}": longest_gap(played, requests), f"all{name}s": len(requests),
                        f"failed{name}s": sum(o["outcome"] == "unknown" for o in requests)}
        self.rounds[played.fault.kind].append(figures)
        return figures

    def document(self, deliveries):
        senders = collections.defaultdict(set)
        for delivery in deliveries:
            senders[delivery["subject"]].add(delivery["node"])
        return {
            "operations": dict(sorted(self.operations.items())),
            "events": len(senders), "deliveries": len(deliveries), "acknowledged": len(done(deliveries, "delivery")),
            "eventsSentByTwoDaemons": sum(len(nodes) > 1 for nodes in senders.values()),
            "violations": self.violations,
            "faults": {fault: {"rounds": len(rounds), **{name: summary(name, [r[name] for r in rounds])
                                                         for name in rounds[0]}}
                       for fault, rounds in self.rounds.items()}}


def summary(name, values):
    """For counts, returns their sum; for times, their median and maximum."""
    if name.startswith(("all", "failed")):
        return sum(values)
    return {"median": round(statistics.median(values), 2), "longest": round(max(values), 2)}


def during(played):
    """The requests to the daemons that did not fail, from the start of the clients until their end."""
    healthy = {daemon.name for daemon in played.fault.healthy}
    return [o for o in played.history
            if o["node"] in healthy and played.began <= o["begin"] and o["end"] <= played.ended]


def longest_gap(played, requests):
    """The longest time in which one of the daemons answered no request, in seconds.

    A response with an unknown outcome is no answer.
    """
    longest = 0
    for daemon in played.fault.healthy:
        ends = sorted(o["end"] for o in requests if o["node"] == daemon.name and o["outcome"] != "unknown")
        times = [played.began, *ends, played.ended]
        longest = max([longest, *(later - earlier for earlier, later in zip(times, times[1:]))])
    return longest
