package import Vocabulary

/// The port for sealed private keys and their destruction: what a transaction may read of them.
package protocol SealedKeyReading {
    /// nil for a destroyed or unknown key pair.
    func sealedPrivateKey(of hash: PublicKeyHash) throws -> SealedPrivateKey?
    /// Every key pair in the store, by publicKeyHash, starting after `cursor`.
    func keyPairs(after cursor: PublicKeyHash?, limit: Int) throws -> [KeyPair]
    /// Revoked key pairs whose destruction is due at `time`.
    func keyPairsToDestroy(at time: Timestamp, limit: Int) throws -> [PublicKeyHash]
    /// Revoked key pairs whose destruction is scheduled, earliest first.
    func keyPairsAwaitingDestruction(limit: Int) throws -> [KeyPair]
    func countAwaitingDestruction() throws -> Int
}

/// The port for sealed private keys and their destruction: what a transaction may also change.
package protocol SealedKeyWriting: SealedKeyReading {
    /// Overwrites the sealed bytes with zeros. The same transaction must set the state to `destroyed`.
    func removeSealedPrivateKey(of hash: PublicKeyHash) throws
}
