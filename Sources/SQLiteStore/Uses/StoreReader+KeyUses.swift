import GRDB
import MerchantCore
import Vocabulary

extension StoreReading {
    func keyUse(of hash: PublicKeyHash) throws -> KeyUse? {
        try first(
            """
            SELECT requests_count, requests_first, requests_last, decryptions_count, decryptions_first, decryptions_last,
                promotion_confirmed_at, alarmed_at
            FROM key_pairs JOIN key_uses ON key_uses.key_pair_id = key_pairs.id WHERE public_key_hash = ?
            """, [hash.data]
        ) { row in
            func use(_ name: String) throws -> ObservedUse? {
                guard let first = try row.timestampIfAny("\(name)_first") else { return nil }
                return ObservedUse(
                    count: try row.integer("\(name)_count"), first: first, last: try row.timestamp("\(name)_last"))
            }
            return KeyUse(
                requests: try use("requests"), decryptions: try use("decryptions"),
                promotionConfirmedAt: try row.timestampIfAny("promotion_confirmed_at"),
                alarmedAt: try row.timestampIfAny("alarmed_at"))
        }
    }

    /// Reads only indexes and no tables, because it runs for every key pair that was used, while other writes wait.
    func useHasConsequences(of hash: PublicKeyHash) throws -> Bool {
        try first(
            """
            SELECT EXISTS (SELECT 1 FROM rolls INDEXED BY rolls_open_from WHERE from_key = ? AND ended_at IS NULL)
                OR EXISTS (SELECT 1 FROM rolls INDEXED BY rolls_open_to WHERE to_key = ? AND ended_at IS NULL)
                OR EXISTS (
                    SELECT 1 FROM key_pairs INDEXED BY key_pairs_by_state WHERE state IN ('revoked', 'destroyed')
                        AND id = (SELECT id FROM key_pairs WHERE public_key_hash = ?)
                ) AS has_consequences
            """, [hash.data, hash.data, hash.data]
        ) { try $0.flag("has_consequences") } ?? false
    }

    func inStoredOrder(_ hashes: [PublicKeyHash]) throws -> [PublicKeyHash] {
        var found: [(id: Int64, hash: PublicKeyHash)] = []
        found.reserveCapacity(hashes.count)
        let statement = try db.cachedStatement(sql: "SELECT id FROM key_pairs WHERE public_key_hash = ?")
        for hash in hashes {
            if let id = try Int64.fetchOne(statement, arguments: [hash.data]) { found.append((id, hash)) }
        }
        found.sort { $0.id < $1.id }
        return found.map(\.hash)
    }
}
