import FoundationEssentials
import GRDB
import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func keyUse(of hash: PublicKeyHash) throws -> KeyUse? {
        try firstRow(
            """
            SELECT \(KeyUseRow.columns)
            FROM key_pairs JOIN key_uses ON key_uses.key_pair_id = key_pairs.id WHERE public_key_hash = ?
            """, [hash.bytes], KeyUseRow.use)
    }

    func keyUses(of hashes: [PublicKeyHash]) throws -> [PublicKeyHash: KeyUse] {
        let found = try rows(
            """
            SELECT public_key_hash, \(KeyUseRow.columns)
            FROM key_pairs CROSS JOIN key_uses ON key_uses.key_pair_id = key_pairs.id WHERE public_key_hash
            """, in: hashes.map(\.bytes)
        ) { (try $0.publicKeyHash(), try KeyUseRow.use($0)) }
        return Dictionary(found) { first, _ in first }
    }

    func keyPairsChanged(by uses: [(key: PublicKeyHash, value: KeyUse)]) throws -> Set<PublicKeyHash> {
        Set(try uses.filter { try isChanged($0.key, by: $0.value) }.map(\.key))
    }

    /// This query runs for every used key pair while other writes wait, so it reads only indexes and no tables.
    private func isChanged(_ hash: PublicKeyHash, by use: KeyUse) throws -> Bool {
        try firstRow(
            """
            SELECT EXISTS (SELECT 1 FROM rolls INDEXED BY rolls_open_from WHERE from_key = ? AND ended_at IS NULL)
                OR EXISTS (SELECT 1 FROM rolls INDEXED BY rolls_open_to WHERE to_key = ? AND ended_at IS NULL)
                OR EXISTS (
                    SELECT 1 FROM key_pairs INDEXED BY key_pairs_by_state
                        WHERE state IN ('revoked', 'destroyed'\(use.decryptions == nil ? "" : ", 'standby'"))
                        AND id = (SELECT id FROM key_pairs WHERE public_key_hash = ?)
                ) AS is_changed
            """, [hash.bytes, hash.bytes, hash.bytes]
        ) { try $0.flag("is_changed") } ?? false
    }

    /// Sorts the hashes by the rows of their key pairs, and leaves out each hash that has no key pair.
    ///
    /// A transaction that writes uses in this order writes fewer pages of the database.
    func sortedByRow(_ hashes: [PublicKeyHash]) throws -> [PublicKeyHash] {
        var found: [(id: Int64, hash: PublicKeyHash)] = []
        found.reserveCapacity(hashes.count)
        let statement = try db.cachedStatement(sql: "SELECT id FROM key_pairs WHERE public_key_hash = ?")
        for hash in hashes {
            if let id = try Int64.fetchOne(statement, arguments: [Data(hash.bytes)]) { found.append((id, hash)) }
        }
        found.sort { $0.id < $1.id }
        return found.map(\.hash)
    }
}
