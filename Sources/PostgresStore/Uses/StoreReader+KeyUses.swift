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

    /// Other writes wait while this query runs, so it must find its rows through indexes. PostgreSQL continues to use a
    /// plan for some time after the tables have grown. `OFFSET 0` makes it execute a subquery once for each hash.
    /// Without `OFFSET 0`, a plan that was made for small tables could read all revoked key pairs.
    func keyPairsChanged(by uses: [(key: PublicKeyHash, value: KeyUse)]) throws -> Set<PublicKeyHash> {
        Set(
            try allRows(
                """
                SELECT hash FROM unnest(\(HashList.array("$1")), \(IntegerList.array("$2"))) AS used (hash, decryptions)
                WHERE EXISTS (SELECT FROM rolls WHERE from_key = hash AND ended_at IS NULL OFFSET 0)
                    OR EXISTS (SELECT FROM rolls WHERE to_key = hash AND ended_at IS NULL OFFSET 0)
                    OR EXISTS (
                        SELECT FROM key_pairs
                        WHERE public_key_hash = hash
                            AND (state IN ('revoked', 'destroyed') OR (state = 'standby' AND decryptions > 0)) OFFSET 0
                    )
                """,
                [
                    HashList.bytes(of: uses.map(\.key)),
                    IntegerList.text(of: uses.map { $0.value.decryptions?.count ?? 0 }),
                ]
            ) { try $0.publicKeyHash("hash") })
    }

    func sortedByRow(_ hashes: [PublicKeyHash]) throws -> [PublicKeyHash] {
        try allRows(
            "SELECT public_key_hash FROM key_pairs WHERE public_key_hash = \(HashList.any("$1")) ORDER BY id",
            [HashList.bytes(of: hashes)]
        ) { try $0.publicKeyHash() }
    }
}
