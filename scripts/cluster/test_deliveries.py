"""Each rule for events finds made-up deliveries that break it, and accepts similar ones that do not."""
import unittest

from deliveries import check_delivered, check_deliveries, check_stored, undelivered
from made_up import delivery, event, operation


class DeliveriesTests(unittest.TestCase):
    def assert_count(self, count, found):
        self.assertEqual(len(found), count, found)

    def assert_violations(self, count, deliveries):
        self.assert_count(count, check_deliveries(deliveries))
        self.assert_count(count, check_deliveries(deliveries[::-1]))

    def test_the_signature_of_each_delivery_is_right(self):
        self.assert_violations(0, [delivery(event("a", 1), 1, 2)])
        self.assert_violations(1, [delivery(event("a", 1), 1, 2, genuine=False)])

    def test_an_event_is_the_same_in_all_deliveries(self):
        first = delivery(event("a", 1), 1, 2)
        self.assert_violations(0, [first, delivery(event("a", 1), 3, 4, node="two")])
        self.assert_violations(1, [first, delivery(event("a", 1, detail="other"), 3, 4, node="two")])

    def test_a_change_is_one_event_whichever_nodes_deliver_it(self):
        for kind, fields in [("keyRevoked", {}), ("rollFinished", {"rollId": "1"}), ("auditHead", {"detail": "1:a"})]:
            first = delivery(event("a", 1, kind, **fields), 1, 2)
            self.assert_violations(0, [first, delivery(event("a", 1, kind, **fields), 3, 4, node="two")])
            self.assert_violations(1, [first, delivery(event("b", 2, kind, **fields), 3, 4, node="two")])
            # Each attempt counts, acknowledged or not.
            self.assert_violations(1, [first, delivery(event("b", 2, kind, **fields), 3, 4, "unknown", node="two")])
        others = [event("b", 2, publicKeyHash="k2"), event("b", 2, "keyPromoted"), event("b", 2, "rollWaiting")]
        for other in others:
            self.assert_violations(0, [delivery(event("a", 1), 1, 2), delivery(other, 3, 4)])

    def test_two_events_never_have_the_same_sequence(self):
        first, second = event("a", 1, merchant="m"), event("b", 1, merchant="n", publicKeyHash="k2")
        self.assert_violations(1, [delivery(first, 1, 2), delivery(second, 3, 4)])
        self.assert_violations(0, [delivery(first, 1, 2), delivery({**second, "sequence": 2}, 3, 4)])

    def test_an_event_is_sent_only_after_the_earlier_events_of_the_merchant_were_acknowledged(self):
        first, second = event("a", 1), event("b", 2, publicKeyHash="k2")
        late = delivery(second, 3, 4, node="two")
        self.assert_violations(0, [delivery(first, 1, 2), late])
        # Sent in the reverse order, at the same time, or although the first event was not acknowledged.
        self.assert_violations(1, [delivery(first, 5, 6), late])
        self.assert_violations(1, [delivery(first, 1, 3.1), late])
        for outcome in ["refused", "unknown"]:
            self.assert_violations(1, [delivery(first, 1, 2, outcome), late])
            self.assert_violations(0, [delivery(first, 1, 2, outcome), delivery(first, 2.1, 2.9), late])
        # An attempt counts also if it was not acknowledged.
        self.assert_violations(1, [{**late, "outcome": "unknown"}, delivery(first, 5, 6), delivery(second, 7, 8)])

    def test_a_repetition_of_an_event_may_come_after_later_events(self):
        first, second = event("a", 1), event("b", 2, publicKeyHash="k2")
        self.assert_violations(0, [delivery(first, 1, 2), delivery(second, 3, 4), delivery(first, 5, 6, node="two")])

    def test_events_of_two_merchants_have_no_order(self):
        for merchant in ["n", None]:
            other = event("b", 2, merchant=merchant, publicKeyHash="k2")
            self.assert_violations(0, [delivery(event("a", 1), 5, 6), delivery(other, 3, 4)])

    def test_the_events_of_each_acknowledged_change_are_delivered(self):
        cases = [
            (operation("certify", "k", 1, 2), [event("a", 1, "certificateStored", publicKeyHash="k")]),
            (operation("promote", "k", 1, 2), [event("a", 1, "keyPromoted")]),
            (operation("start", "roll/1", 1, 2, key="k2"), [event("a", 1, "rollStarted", rollId="1")]),
            (operation("revoke", "k", 1, 2), [event("a", 1, "keyRevoked")]),
            (operation("finish", "roll/1", 1, 2, key="k"),
             [event("a", 1, "rollFinished", rollId="1"), event("b", 2, "keyRevoked")]),
        ]
        for change, events in cases:
            sent = [delivery(e, 3 + n, 3.5 + n) for n, e in enumerate(events)]
            self.assert_count(0, check_delivered(sent, [change], {}))
            for missing in sent:
                unacknowledged = [{**d, "outcome": "unknown"} if d is missing else d for d in sent]
                self.assert_count(1, check_delivered(unacknowledged, [change], {}))
                self.assert_count(0, check_delivered(unacknowledged, [{**change, "outcome": "unknown"}], {}))
        self.assert_count(0, check_delivered([], [operation("add", "m", 1, 2)], {}))

    def test_each_stored_event_is_delivered(self):
        stored = {"one": [event("a", 1, "rollWaiting")], "two": [event("a", 1, "rollWaiting")]}
        self.assert_count(0, check_delivered([delivery(event("a", 1, "rollWaiting"), 1, 2)], [], stored))
        refused = [delivery(event("a", 1, "rollWaiting"), 1, 2, "refused")]
        self.assert_count(1, check_delivered(refused, [], stored))
        self.assertEqual(undelivered(refused, stored), {"a"})

    def test_each_event_that_was_sent_is_stored_on_every_node(self):
        sent = event("a", 1)
        for outcome in ["done", "unknown"]:
            deliveries = [delivery(sent, 1, 2, outcome)]
            self.assert_count(0, check_stored(deliveries, {"one": [sent], "two": [sent]}))
            self.assert_count(1, check_stored(deliveries, {"one": [sent], "two": []}))
            self.assert_count(1, check_stored(deliveries, {"one": [sent], "two": [event("a", 1, detail="other")]}))

    def test_a_revocation_has_an_event_only_if_a_client_asked_for_it(self):
        sent = [delivery(event("a", 1), 3, 4)]
        self.assert_count(1, check_delivered(sent, [], {}))
        for asked in [operation("revoke", "k", 1, None, "unknown"),
                      operation("finish", "roll/1", 1, 2, "unknown", key="k")]:
            self.assert_count(0, check_delivered(sent, [asked], {}))
        self.assert_count(1, check_delivered(sent, [operation("revoke", "k2", 1, None, "unknown")], {}))


if __name__ == "__main__":
    unittest.main()
