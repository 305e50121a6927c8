import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func keyUse(of hash: PublicKeyHash) throws -> KeyUse? {
        try firstRow(
            """
            SELECT \(KeyUseRow.columns)
            FROM key_pairs JOIN key_uses ON key_uses.key_pair_id = key_pairs.id WHERE public_key_hash = $1
            """, [hash.bytes], KeyUseRow.use)
    }

    func keyUses(of hashes: [PublicKeyHash]) throws -> [PublicKeyHash: KeyUse] {
        guard !hashes.isEmpty else { return [:] }
        let found = try allRows(
            """
            SELECT public_key_hash, \(KeyUseRow.columns)
            FROM key_pairs JOIN key_uses ON key_uses.key_pair_id = key_pairs.id
            WHERE public_key_hash = \(HashList.any("$1"))
            """, [HashList.bytes(of: hashes)]
        ) { (try $0.publicKeyHash(), try KeyUseRow.use($0)) }
        return Dictionary(found) { first, _ in first }
    }

    /// Whether a use of the key pair does more than increase its counters: the key pair is in an open roll, or is
    /// standby, revoked or destroyed. A token can promote a standby key pair.
    ///
    /// This query runs for every used key pair while other writes wait, so it reads few rows, which indexes find.
    func useChangesMoreThanCounters(of hash: PublicKeyHash) throws -> Bool {
        try firstRow(
            """
            SELECT EXISTS (SELECT 1 FROM rolls WHERE from_key = $1 AND ended_at IS NULL)
                OR EXISTS (SELECT 1 FROM rolls WHERE to_key = $1 AND ended_at IS NULL)
                OR EXISTS (
                    SELECT 1 FROM key_pairs
                        WHERE state IN ('standby', 'revoked', 'destroyed')
                        AND id = (SELECT id FROM key_pairs WHERE public_key_hash = $1)
                ) AS has_consequences
            """, [hash.bytes]
        ) { try $0.flag("has_consequences") } ?? false
    }

    /// Sorts the hashes by the rows of their key pairs, and leaves out each hash that has no key pair.
    ///
    /// A transaction that writes uses in this order locks the rows in the same order as every other such transaction.
    func sortedByRow(_ hashes: [PublicKeyHash]) throws -> [PublicKeyHash] {
        var found: [(id: Int64, hash: PublicKeyHash)] = []
        found.reserveCapacity(hashes.count)
        for hash in hashes {
            let id = try firstRow("SELECT id FROM key_pairs WHERE public_key_hash = $1", [hash.bytes]) {
                try $0.int64("id")
            }
            if let id { found.append((id, hash)) }
        }
        found.sort { $0.id < $1.id }
        return found.map(\.hash)
    }
}
