package import Vocabulary

/// Reads the observed uses of key pairs in a transaction of the store.
package protocol KeyUseReading {
    /// - Returns: nil if no use was observed.
    func keyUse(of hash: PublicKeyHash) throws -> KeyUse?
    /// The uses of these key pairs, read together. A key pair without observed use has no entry.
    func keyUses(of hashes: [PublicKeyHash]) throws -> [PublicKeyHash: KeyUse]
    /// The key pairs for which these uses change more than the counters: key pairs that are in an open roll, key pairs
    /// that are revoked or destroyed, and standby key pairs that decrypted a token, which can promote them.
    func keyPairsChanged(by uses: [(key: PublicKeyHash, value: KeyUse)]) throws -> Set<PublicKeyHash>
    /// The given hashes without those of unknown key pairs, in the order of the key pairs' rows. A transaction that
    /// writes uses in this order writes fewer pages of the database.
    func sortedByRow(_ hashes: [PublicKeyHash]) throws -> [PublicKeyHash]
}

/// Reads and changes the observed uses of key pairs in a transaction of the store.
package protocol KeyUseWriting: KeyUseReading {
    func setKeyUse(_ use: KeyUse, of hash: PublicKeyHash) throws
    /// Adds each use to the counts and times that are stored for its key pair. The first decryption after a key pair's
    /// promotion confirms the promotion, as in ``KeyUse/confirmPromotion(of:by:)``.
    ///
    /// - Parameter uses: each key pair at most once. Uses of unknown key pairs are ignored.
    func addKeyUses(_ uses: [(key: PublicKeyHash, value: KeyUse)]) throws
}
