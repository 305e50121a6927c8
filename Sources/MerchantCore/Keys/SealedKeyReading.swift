package import Vocabulary

/// Reads sealed (encrypted) private keys, and which of them are due for destruction, in a transaction of the store.
package protocol SealedKeyReading {
    /// The sealed private key; nil for a destroyed or unknown key pair.
    func sealedPrivateKey(of hash: PublicKeyHash) throws -> SealedPrivateKey?
    /// Every key pair in the store, sorted by publicKeyHash, starting after `cursor`.
    func keyPairs(after cursor: PublicKeyHash?, limit: Int) throws -> [KeyPair]
    /// Revoked key pairs whose destruction is due at `time`.
    func keyPairsDueForDestruction(at time: Timestamp, limit: Int) throws -> [PublicKeyHash]
    /// Revoked key pairs whose destruction is scheduled, earliest first.
    func keyPairsScheduledForDestruction(limit: Int) throws -> [KeyPair]
    func countScheduledForDestruction() throws -> Int
}

/// Reads and removes sealed private keys in a transaction of the store.
package protocol SealedKeyWriting: SealedKeyReading {
    /// Overwrites the encrypted private key with zeros. The same transaction must also update the key pair to the state
    /// `destroyed`.
    func removeSealedPrivateKey(of hash: PublicKeyHash) throws
}
