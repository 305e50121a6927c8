"""Each rule for answers finds a made-up history that breaks it, and accepts a similar one that does not."""
import unittest

from answers import check_answers
from made_up import operation, read


class AnswersTests(unittest.TestCase):
    def assert_violations(self, count, history, nodes=()):
        found = check_answers(history, nodes)
        self.assertEqual(len(found), count, found)

    def test_a_token_is_claimed_once_on_all_nodes(self):
        first = operation("claim", 7, 1, 2, key="k", node="one")
        second = operation("claim", 7, 1.5, 3, key="k", node="two")
        self.assert_violations(1, [first, second])
        self.assert_violations(0, [first, {**second, "outcome": "refused", "code": "tokenAlreadyClaimed"}])
        # A claim without a response may have failed, so it is unknown whether the token was claimed twice.
        self.assert_violations(0, [first, {**second, "outcome": "unknown"}])
        self.assert_violations(0, [first, {**second, "subject": 8}])

    def test_every_node_refuses_a_claimed_token_afterwards(self):
        claim = operation("claim", 7, 1, 2, key="k")
        refused = [operation("claim", 7, 3, 4, "refused", node, key="k", code="tokenAlreadyClaimed")
                   for node in ("one", "two")]
        self.assert_violations(0, [claim, *refused], ["one", "two"])
        self.assert_violations(1, [claim, refused[0]], ["one", "two"])
        # A refusal that overlaps the claim may be the answer to a claim of another client.
        self.assert_violations(1, [claim, refused[0], {**refused[1], "begin": 1.9}], ["one", "two"])
        # A claim with an unknown outcome may be lost. A revoked key hides the claim.
        self.assert_violations(0, [{**claim, "outcome": "unknown"}], ["one"])
        self.assert_violations(0, [claim, operation("revoke", "k", 3, 4, "unknown")], ["one"])

    def test_no_use_begins_after_the_revocation_was_acknowledged(self):
        for revocation in [operation("revoke", "k", 1, 2), operation("finish", "roll/1", 1, 2, key="k")]:
            for kind in ["use", "claim"]:
                late = operation(kind, 7, 2.1, 2.2, key="k", node="two")
                self.assert_violations(1, [revocation, late])
                self.assert_violations(0, [revocation, {**late, "key": "other"}])
                self.assert_violations(0, [revocation, {**late, "outcome": "refused", "code": "keyRevoked"}])
                # A use that overlaps the revocation may come before or after it.
                self.assert_violations(0, [revocation, {**late, "begin": 1.9}])
            # Only the acknowledgement counts: an attempt whose outcome is not known forbids nothing.
            use = operation("use", 7, 9, 9.1, key="k")
            self.assert_violations(0, [{**revocation, "outcome": "unknown"}, use])

    def test_the_first_acknowledged_revocation_counts(self):
        revocations = [operation("revoke", "k", 5, 6, node="two"), operation("revoke", "k", 1, 2)]
        self.assert_violations(1, [*revocations, operation("use", 7, 3, 4, key="k")])

    def test_a_read_after_an_acknowledged_change_shows_it(self):
        cases = [
            (operation("add", "s", 1, 2), "absent", "present"),
            (operation("certify", "s", 1, 2), "pending", "standby"),
            (operation("promote", "s", 1, 2), "standby", "current"),
            (operation("promote", "s", 1, 2), "standby", "retiring"),
            (operation("revoke", "s", 1, 2), "retiring", "revoked"),
            (operation("start", "s", 1, 2, key="k"), "absent", "started"),
            (operation("start", "s", 1, 2, key="k"), "abandoned", "finished"),
            (operation("finish", "s", 1, 2, key="k"), "quiet", "finished"),
            (operation("start", "roll/1", 1, 2, key="s"), "absent", "pending"),
            (operation("finish", "roll/1", 1, 2, key="s"), "retiring", "revoked"),
        ]
        for change, before, after in cases:
            late = read("s", 3, 4, before, node="two")
            self.assert_violations(1, [change, late])
            self.assert_violations(0, [change, {**late, "state": after}])
            # A read that overlaps the change may show either state, and so may a change that was not acknowledged.
            self.assert_violations(0, [change, {**late, "begin": 1.9}])
            self.assert_violations(0, [{**change, "outcome": "unknown"}, late])

    def test_each_acknowledged_change_is_read_back_on_every_node(self):
        change = operation("finish", "roll/1", 1, 2, key="k")
        reads = [read(subject, 3, 4, state, node=node) for node in ("one", "two")
                 for subject, state in [("roll/1", "finished"), ("k", "revoked")]]
        self.assert_violations(0, [change, *reads], ["one", "two"])
        for missing in reads:
            self.assert_violations(1, [change, *(r for r in reads if r is not missing)], ["one", "two"])
            self.assert_violations(1, [change, *({**r, "begin": 1.5} if r is missing else r for r in reads)],
                                   ["one", "two"])
            self.assert_violations(1, [change, *({**r, "outcome": "unknown"} if r is missing else r for r in reads)],
                                   ["one", "two"])
        self.assert_violations(0, [{**change, "outcome": "unknown"}], ["one", "two"])

    def test_a_key_is_revoked_only_if_a_client_asked_for_it(self):
        found = [read("k", 3, 4, "revoked"), operation("use", 7, 3, 4, "refused", key="k", code="keyRevoked")]
        for operations in [[found[0]], [found[1]]]:
            self.assert_violations(1, operations)
            for revocation in [operation("revoke", "k", 1, 2, "unknown"),
                               operation("finish", "roll/1", 1, None, "unknown", key="k")]:
                self.assert_violations(0, [revocation, *operations])
                self.assert_violations(1, [{**revocation, "begin": 4.1}, *operations])
        self.assert_violations(2, [operation("revoke", "k", 1, 2, "refused", code="keyNotFound"), found[0]])

    def test_a_permitted_request_is_not_refused(self):
        self.assert_violations(1, [operation("use", 7, 1, 2, "refused", key="k", code="keyNotFound")])
        self.assert_violations(1, [operation("promote", "k", 1, 2, "refused", code="keyStateConflict")])
        self.assert_violations(0, [operation("use", 7, 1, 2, "unknown", key="k", code="storeUnavailable")])

    def test_a_claim_is_refused_only_after_another_claim_of_the_token_was_sent(self):
        refused = operation("claim", 7, 3, 4, "refused", key="k", code="tokenAlreadyClaimed")
        self.assert_violations(1, [refused])
        other = operation("claim", 7, 1, None, "unknown", "two", key="k")
        self.assert_violations(0, [other, refused])
        self.assert_violations(1, [{**other, "begin": 4.1}, refused])
        self.assert_violations(1, [{**other, "subject": 8}, refused])

    def test_a_history_with_an_invalid_operation_is_refused(self):
        for invalid in [operation("delete", "s", 1, 2), operation("add", "s", 1, 2, "maybe"), read("s", 1, 2, "odd")]:
            with self.assertRaises(ValueError):
                check_answers([invalid], [])


if __name__ == "__main__":
    unittest.main()
