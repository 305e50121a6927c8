package import Vocabulary

/// Reads key pairs and their certificates in a transaction of the store. Private keys are not included.
package protocol KeyPairReading {
    func keyPair(_ hash: PublicKeyHash) throws -> KeyPair?
    /// The key pairs with these hashes, read together. A hash that is not stored has no entry.
    func keyPairs(_ hashes: [PublicKeyHash]) throws -> [PublicKeyHash: KeyPair]
    /// Every key pair of the merchant, oldest first.
    func keyPairs(of merchant: MerchantIdentifier) throws -> [KeyPair]
    /// How many pending and active key pairs the merchant has, of both purposes.
    func countPendingAndActiveKeyPairs(of merchant: MerchantIdentifier) throws -> Int
    /// Key pairs whose publicKeyHash starts with the text, in hexadecimal, Base64 or Base64url; at most `limit`.
    func keyPairs(prefix text: String, limit: Int) throws -> [KeyPair]
    /// Key pairs in this state, oldest first, starting after the key pair `cursor`.
    func keyPairs(in state: KeyState, after cursor: PublicKeyHash?, limit: Int) throws -> [KeyPair]
    /// Active key pairs whose latest-expiring certificate expires before `time`, earliest expiry first, starting after
    /// the key pair `cursor`.
    ///
    /// - Parameter state: an active state; nil for all active states.
    func keyPairs(
        expiringBefore time: Timestamp, in state: KeyState?, after cursor: PublicKeyHash?, limit: Int
    ) throws -> [KeyPair]
    /// The merchant's active key pairs with the purpose `identity`, oldest first.
    func activeIdentityKeyPairs(of merchant: MerchantIdentifier) throws -> [KeyPair]
    /// The certificates of a key pair, in the order in which they were stored.
    func certificates(of hash: PublicKeyHash) throws -> [StoredCertificate]
    /// The certificates of each key pair, as ``certificates(of:)`` returns them, read together. A key pair without
    /// certificates has no entry.
    func certificates(of hashes: [PublicKeyHash]) throws -> [PublicKeyHash: [StoredCertificate]]
    /// Counts the key pairs of these merchants, and compares them with the backups. A merchant that is not stored has
    /// no entry.
    func keyPairSummaries(of merchants: [MerchantIdentifier]) throws -> [MerchantIdentifier: KeyPairSummary]
    /// The CSR of the key pair: PKCS#10 in DER.
    func certificateSigningRequest(of hash: PublicKeyHash) throws -> [UInt8]?
}

/// What a list of merchants shows of a merchant's key pairs.
package struct KeyPairSummary: Hashable, Sendable {
    /// How many key pairs for payment processing are active.
    package let active: Int
    /// Whether a verified backup contains the newest key pair; nil if the merchant has no key pair.
    package let isNewestBackedUp: Bool?

    package init(active: Int, isNewestBackedUp: Bool?) {
        self.active = active
        self.isNewestBackedUp = isNewestBackedUp
    }
}

/// Reads and changes key pairs and their certificates in a transaction of the store.
package protocol KeyPairWriting: KeyPairReading {
    /// Stores a key pair, with the public key, CSR and sealed private key of `new`.
    func insert(_ keyPair: KeyPair, _ new: NewKeyPair) throws
    /// Writes the state, times, reason and `exportedAt` of a stored key pair.
    func update(_ keyPair: KeyPair) throws
    /// - Returns: false if the same certificate is stored already; then nothing changes.
    func insert(_ certificate: StoredCertificate, of hash: PublicKeyHash) throws -> Bool
    /// Notes that the issuer of a stored certificate is verified now.
    func markIssuerVerified(_ certificate: StoredCertificate, of hash: PublicKeyHash) throws
}
