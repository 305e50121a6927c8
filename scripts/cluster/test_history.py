"""Each rule of the history checker finds a made-up history that breaks it, and accepts the nearest one that does not."""
import unittest
from history import Final, check


def operation(kind, subject, begin, end=None, outcome="done", node="one", key=None):
    made = {"kind": kind, "subject": subject, "begin": begin, "outcome": outcome, "node": node}
    if end is not None:
        made["end"] = end
    if key is not None:
        made["key"] = key
    return made


def final(merchants=(), revoked=(), claimed=(), events=()):
    return Final(set(merchants), set(revoked), set(claimed), set(events))


class HistoryTests(unittest.TestCase):
    def assert_violations(self, count, history, end):
        found = check(history, end)
        self.assertEqual(len(found), count, found)

    def test_a_token_is_claimed_once_on_all_nodes(self):
        first = operation("claim", 7, 1, 2, key="k", node="one")
        second = operation("claim", 7, 1.5, 3, key="k", node="two")
        self.assert_violations(1, [first, second], final(claimed=[7]))
        self.assert_violations(0, [first, {**second, "outcome": "refused"}], final(claimed=[7]))
        # A claim whose response was lost may have won or not; only one response says so.
        self.assert_violations(0, [first, {**second, "outcome": "unknown"}], final(claimed=[7]))

    def test_no_use_begins_after_the_revocation_was_acknowledged(self):
        revocation = operation("revoke", "k", 1, 2)
        end = final(revoked=["k"], claimed=[7])
        for kind in ["use", "claim"]:
            late = operation(kind, 7, 2.1, 2.2, key="k", node="two")
            self.assert_violations(1, [revocation, late], end)
            self.assert_violations(0, [revocation, {**late, "key": "other"}], end)
            self.assert_violations(0, [revocation, {**late, "outcome": "refused"}], end)
            # A use that overlaps the revocation may come before or after it.
            self.assert_violations(0, [revocation, {**late, "begin": 1.9}], end)
        # Only the acknowledgement counts: an attempt whose outcome is not known forbids nothing.
        use = operation("use", 7, 9, 9.1, key="k")
        self.assert_violations(0, [{**revocation, "outcome": "unknown"}, use], end)

    def test_the_first_acknowledged_revocation_counts(self):
        revocations = [operation("revoke", "k", 5, 6, node="two"), operation("revoke", "k", 1, 2)]
        use = operation("use", 7, 3, 4, key="k")
        self.assert_violations(1, [*revocations, use], final(revoked=["k"]))

    def test_what_was_acknowledged_is_there_at_the_end(self):
        for kind, where in [("add", "merchants"), ("revoke", "revoked"), ("claim", "claimed"), ("delivery", "events")]:
            done = operation(kind, "s", 1, 2, key="k")
            self.assert_violations(1, [done], final())
            self.assert_violations(0, [done], final(**{where: ["s"]}))
            self.assert_violations(0, [{**done, "outcome": "unknown"}], final())
            self.assert_violations(0, [{**done, "outcome": "refused"}], final())

    def test_an_unknown_operation_is_no_history(self):
        with self.assertRaises(ValueError):
            check([operation("delete", "s", 1, 2)], final())


if __name__ == "__main__":
    unittest.main()
