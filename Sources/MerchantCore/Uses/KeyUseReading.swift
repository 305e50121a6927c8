package import Vocabulary

/// The port for observed uses of key pairs: what a transaction may read of them.
package protocol KeyUseReading {
    func keyUse(of hash: PublicKeyHash) throws -> KeyUse?
    /// Whether a use of the key pair changes more than its counters: it is part of an open roll, or revoked or destroyed.
    func useHasConsequences(of hash: PublicKeyHash) throws -> Bool
    /// Those of the hashes that the store knows, sorted by row, so that a transaction over many key pairs writes few pages.
    func inStoredOrder(_ hashes: [PublicKeyHash]) throws -> [PublicKeyHash]
}

/// The port for observed uses of key pairs: what a transaction may also change.
package protocol KeyUseWriting: KeyUseReading {
    func setKeyUse(_ use: KeyUse, of hash: PublicKeyHash) throws
    /// Adds to the stored use in one statement; inserts it if there is none.
    func addKeyUse(_ use: KeyUse, of hash: PublicKeyHash) throws
}
