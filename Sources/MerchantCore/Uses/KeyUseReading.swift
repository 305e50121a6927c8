package import Vocabulary

/// Reads the observed uses of key pairs in a transaction of the store.
package protocol KeyUseReading {
    /// - Returns: nil if no use was observed.
    func keyUse(of hash: PublicKeyHash) throws -> KeyUse?
    /// The uses of these key pairs, read together. A key pair without observed use has no entry.
    func keyUses(of hashes: [PublicKeyHash]) throws -> [PublicKeyHash: KeyUse]
    /// Whether a use changes more than the counters of the key pair: the key pair is in an open roll, or is standby,
    /// revoked or destroyed.
    func useChangesMoreThanCounters(of hash: PublicKeyHash) throws -> Bool
    /// The given hashes without those of unknown key pairs, in the order of the key pairs' rows. A transaction that
    /// writes uses in this order writes fewer pages of the database.
    func sortedByRow(_ hashes: [PublicKeyHash]) throws -> [PublicKeyHash]
}

/// Reads and changes the observed uses of key pairs in a transaction of the store.
package protocol KeyUseWriting: KeyUseReading {
    func setKeyUse(_ use: KeyUse, of hash: PublicKeyHash) throws
    /// Adds `use` to the stored use, or stores it if there is none, in one statement.
    func addKeyUse(_ use: KeyUse, of hash: PublicKeyHash) throws
}
