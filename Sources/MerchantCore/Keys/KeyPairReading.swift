package import Vocabulary

/// The port for key pairs and their certificates: what a transaction may read of them. It does not include private keys.
package protocol KeyPairReading {
    func keyPair(_ hash: PublicKeyHash) throws -> KeyPair?
    /// Every key pair of the merchant, oldest first.
    func keyPairs(of merchant: MerchantIdentifier) throws -> [KeyPair]
    /// Key pairs whose publicKeyHash starts with the text, in any of its spellings; at most `limit`.
    func keyPairs(prefix text: String, limit: Int) throws -> [KeyPair]
    /// Key pairs in one state, oldest first, starting after the key pair `cursor`.
    func keyPairs(in state: KeyState, after cursor: PublicKeyHash?, limit: Int) throws -> [KeyPair]
    /// Active key pairs with purpose identity, oldest first.
    func activeIdentityKeyPairs() throws -> [KeyPair]
    func certificates(of hash: PublicKeyHash) throws -> [StoredCertificate]
    /// PKCS#10 in DER.
    func certificateSigningRequest(of hash: PublicKeyHash) throws -> [UInt8]?
}

/// The port for key pairs and their certificates: what a transaction may also change.
package protocol KeyPairWriting: KeyPairReading {
    func insert(_ keyPair: KeyPair, _ new: NewKeyPair) throws
    /// Writes state, times, reason and `exportedAt` of a stored key pair.
    func update(_ keyPair: KeyPair) throws
    /// - Returns: false if the same certificate is stored already; nothing changes then.
    func insert(_ certificate: StoredCertificate, of hash: PublicKeyHash) throws -> Bool
}
