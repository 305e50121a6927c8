import MerchantCore
import StoreCore
import Vocabulary

/// The queries of ``SealedKeyReading``: a key pair's sealed (encrypted) private key; all key pairs, page by page; and
/// the key pairs whose private keys will be destroyed.
extension StoreReading {
    func sealedPrivateKey(of hash: PublicKeyHash) throws -> SealedPrivateKey? {
        try firstRow(
            """
            SELECT \(SealedKeyRow.columns)
            FROM key_pairs JOIN sealed_private_keys ON sealed_private_keys.id = key_pairs.id
            WHERE public_key_hash = ? AND erased = 0
            """, [hash.bytes], SealedKeyRow.sealedPrivateKey)
    }

    func keyPairs(after cursor: PublicKeyHash?, limit: Int) throws -> [KeyPair] {
        try allRows(
            """
            SELECT \(KeyPairRow.columns) FROM key_pairs WHERE public_key_hash > ? ORDER BY public_key_hash LIMIT ?
            """, [cursor?.bytes ?? [], max(0, limit)], KeyPairRow.keyPair)
    }

    func keyPairsDueForDestruction(at time: Timestamp, limit: Int) throws -> [PublicKeyHash] {
        try allRows(
            """
            SELECT public_key_hash FROM key_pairs INDEXED BY key_pairs_to_destroy
            WHERE destroy_after <= ? ORDER BY destroy_after LIMIT ?
            """, [time, max(0, limit)]
        ) { try $0.publicKeyHash() }
    }

    /// `destroy_after >= 0` excludes NULL, and makes SQLite search the index instead of scanning it.
    func keyPairsScheduledForDestruction(limit: Int) throws -> [KeyPair] {
        try allRows(
            """
            SELECT \(KeyPairRow.columns) FROM key_pairs INDEXED BY key_pairs_to_destroy
            WHERE destroy_after >= 0 ORDER BY destroy_after LIMIT ?
            """, [max(0, limit)], KeyPairRow.keyPair)
    }

    func countScheduledForDestruction() throws -> Int {
        try firstRow("SELECT value FROM totals WHERE name = 'awaitingDestruction'", []) { try $0.integer("value") } ?? 0
    }
}
