"""Each rule for the audit finds made-up records that break it, and accepts similar ones that do not."""
import unittest

from made_up import operation, record
from records import START, check_chain, check_records


class RecordsTests(unittest.TestCase):
    def assert_count(self, count, found):
        self.assertEqual(len(found), count, found)

    def test_the_records_are_one_chain(self):
        chain = [record(1, START), record(2, "hash1"), record(3, "hash2")]
        self.assert_count(0, check_chain(chain))
        self.assert_count(0, check_chain(chain[1:], chain[0]))
        # A record is missing, at the beginning or between two others; a record is there twice; a hash is wrong.
        self.assert_count(1, check_chain(chain[1:]))
        self.assert_count(1, check_chain([chain[0], chain[2]]))
        self.assert_count(1, check_chain([chain[0], *chain]))
        self.assert_count(1, check_chain([chain[0], {**chain[1], "previousHash": "other"}, chain[2]]))
        self.assert_count(1, check_chain([{**chain[0], "previousHash": "other"}]))

    def test_each_acknowledged_change_has_one_record(self):
        cases = [
            (operation("add", "m", 1, 2), [record(1, START, "merchantAdded", merchantIdentifier="m")]),
            (operation("certify", "k", 1, 2), [record(1, START, "certificateStored", publicKeyHash="k")]),
            (operation("promote", "k", 1, 2), [record(1, START, "keyPromoted", publicKeyHash="k")]),
            (operation("revoke", "k", 1, 2), [record(1, START, "keyRevoked", publicKeyHash="k")]),
            (operation("start", "roll/1", 1, 2, key="k"), [record(1, START, "rollStarted", after="roll 1")]),
            (operation("finish", "roll/1", 1, 2, key="k"),
             [record(1, START, "rollFinished", before="roll 1"), record(2, "hash1", "keyRevoked", publicKeyHash="k")]),
        ]
        for change, records in cases:
            self.assert_count(0, check_records(records, [change]))
            self.assert_count(1, check_records(records[1:], [change]))
            self.assert_count(1, check_records([*records, records[0]], [change]))
            # A change whose outcome is not known may have a record, but not two.
            unknown = [{**change, "outcome": "unknown"}]
            self.assert_count(0, check_records([], unknown))
            self.assert_count(0, check_records(records, unknown))
            self.assert_count(1, check_records([*records, records[0]], unknown))

    def test_other_records_may_be_repeated(self):
        self.assert_count(0, check_records([record(1, START), record(2, "hash1")], []))


if __name__ == "__main__":
    unittest.main()
