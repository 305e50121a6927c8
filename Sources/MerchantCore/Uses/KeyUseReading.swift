package import Vocabulary

/// Reads the observed uses of key pairs in a transaction of the store.
package protocol KeyUseReading {
    func keyUse(of hash: PublicKeyHash) throws -> KeyUse?
    /// Whether a use changes more than the counters of the key pair: the key pair is in an open roll, or is revoked
    /// or destroyed.
    func useChangesMoreThanCounters(of hash: PublicKeyHash) throws -> Bool
    /// Those of the given hashes that the store knows, sorted by the rows of their key pairs. A transaction that writes
    /// uses in this order writes fewer pages of the database.
    func sortedByRow(_ hashes: [PublicKeyHash]) throws -> [PublicKeyHash]
}

/// Reads and changes the observed uses of key pairs in a transaction of the store.
package protocol KeyUseWriting: KeyUseReading {
    func setKeyUse(_ use: KeyUse, of hash: PublicKeyHash) throws
    /// Adds to the stored use in one statement; inserts it if there is none.
    func addKeyUse(_ use: KeyUse, of hash: PublicKeyHash) throws
}
