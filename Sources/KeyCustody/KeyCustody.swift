import CLibCrypto
package import MerchantCore
package import Secrets
package import Vocabulary

/// Generates, imports and uses the merchants' private keys. No other part of the daemon handles an unsealed private
/// key, except a key that ``exportPrivateKey(_:)`` returned.
///
/// The store contains each private key sealed: encrypted with a data key. A cache of limited capacity contains unsealed
/// copies of the keys that payments use. Every synchronous method works on the calling thread.
///
/// At its end, each method that handles an unsealed key calls `clibcrypto_overwrite_traces`. This function overwrites
/// the parts of the key that may remain in the thread's registers and stack.
package final class KeyCustody: KeyCustodian, KeyPairVerifier {
    let keyring: Keyring
    let currentIssuers: CurrentValue<CertificateIssuers?>
    var certificateIssuers: CertificateIssuers? { currentIssuers.value }
    private let cache: UnsealedKeyCache
    let readKeyPair: @Sendable (PublicKeyHash) throws -> SealedKeyPair?

    /// - Parameters:
    ///   - certificateIssuers: the setting `trust.certificate-issuers`; nil if it is not set.
    ///   - cache: the cache of unsealed keys. Must be an observer of the store.
    ///   - readKeyPair: reads a key pair in its present state from the store. It returns nil for an unknown key pair.
    package init(
        keyring: Keyring, certificateIssuers: CurrentValue<CertificateIssuers?> = CurrentValue(nil),
        cache: UnsealedKeyCache,
        readKeyPair: @escaping @Sendable (PublicKeyHash) throws -> SealedKeyPair?
    ) {
        self.keyring = keyring
        currentIssuers = certificateIssuers
        self.readKeyPair = readKeyPair
        self.cache = cache
    }

    package func generateKeyPair(
        algorithm: KeyAlgorithm, purpose: KeyPurpose, for merchant: MerchantIdentifier
    ) throws -> NewKeyPair {
        defer { clibcrypto_overwrite_traces() }
        try Self.requirePermitted(algorithm, for: purpose)
        let key = try SigningKey.generate(algorithm)
        return try newKeyPair(sealing: key.privateKeyBytes, key, purpose: purpose, for: merchant)
    }

    package func importKeyPair(
        privateKey: borrowing SecretBytes, number: Int?, passphrase: borrowing SecretBytes, purpose: KeyPurpose,
        for merchant: MerchantIdentifier
    ) throws -> ImportedKeyPair {
        defer { clibcrypto_overwrite_traces() }
        let imported = try PrivateKeyFile.read(privateKey, number: number, passphrase: passphrase)
        try Self.requirePermitted(imported.bytes.algorithm, for: purpose)
        let (certificates, isOnlyKey) = (imported.certificates, imported.isOnlyKey)
        let keyPair = try newKeyPair(sealing: imported.bytes, imported.signingKey, purpose: purpose, for: merchant)
        return ImportedKeyPair(
            keyPair: keyPair,
            certificate: Self.certificate(of: keyPair.publicKeyHash, among: certificates, isOnlyKey: isOnlyKey))
    }

    package func certificate(
        inPrivateKeyFile file: borrowing SecretBytes, number: Int?, passphrase: borrowing SecretBytes
    ) throws -> [UInt8]? {
        defer { clibcrypto_overwrite_traces() }
        let imported = try PrivateKeyFile.read(file, number: number, passphrase: passphrase)
        let hash = PublicKeyHash(of: imported.signingKey.subjectPublicKeyInfo)
        return Self.certificate(of: hash, among: imported.certificates, isOnlyKey: imported.isOnlyKey)
    }

    /// Returns the certificate of a key. If no certificate is for this key, and the file contains no other key, returns
    /// the first certificate. The caller then refuses this certificate with an error that names the right key. If the
    /// file contains several keys, returns nil, because the first certificate may belong to another of these keys.
    private static func certificate(
        of hash: PublicKeyHash, among certificates: [[UInt8]], isOnlyKey: Bool
    ) -> [UInt8]? {
        certificates.first { (try? CertificateFacts(upload: $0))?.publicKeyHash == hash }
            ?? (isOnlyKey ? certificates.first : nil)
    }

    package func readCertificate(_ upload: [UInt8]) throws -> CertificateFacts {
        try CertificateFacts(upload: upload)
    }

    package func fingerprint(ofClientCertificate upload: [UInt8]) throws -> Bits256 {
        try CertificateUpload.fingerprint(upload)
    }

    package func issuerFinding(for certificate: CertificateFacts, at time: Timestamp) async -> IssuerFinding {
        guard let certificateIssuers else { return .notConfigured }
        return await certificateIssuers.refusal(of: certificate, at: time).map { .untrusted($0.description) }
            ?? .verified
    }

    package func symmetricKey(_ hash: PublicKeyHash, from material: SymmetricKeyMaterial) throws -> SecretBytes {
        if let cached = try cachedSymmetricKey(hash, from: material) { return cached }
        defer { clibcrypto_overwrite_traces() }
        let pending = cache.beginRead(hash)
        // An error is thrown only after `cache.end`, because a failed read must end, too.
        let read: Result<DecryptionKey, any Error> = Result { try decryptionKey(hash) }
        cache.end(pending, with: try? read.get())
        return try read.get().symmetricKey(from: material)
    }

    package func cachedSymmetricKey(
        _ hash: PublicKeyHash, from material: SymmetricKeyMaterial
    ) throws -> SecretBytes? {
        guard let key = cache.key(hash) else { return nil }
        defer { clibcrypto_overwrite_traces() }
        return try key.symmetricKey(from: material)
    }

    package func exportPrivateKey(_ hash: PublicKeyHash) throws -> SecretBytes {
        defer { clibcrypto_overwrite_traces() }
        guard let found = try readKeyPair(hash) else { throw Self.notFound(hash) }
        guard found.keyPair.state != .destroyed else { throw Self.destroyed(hash) }
        return try PrivateKeyPEM.encode(try unsealAndVerify(found).bytes)
    }

    package func verifyPrivateKey(of stored: SealedKeyPair) throws {
        defer { clibcrypto_overwrite_traces() }
        _ = try unsealAndVerify(stored)
    }

    /// Seals the private key, and creates the CSR.
    private func newKeyPair(
        sealing bytes: consuming PrivateKeyBytes, _ key: SigningKey, purpose: KeyPurpose,
        for merchant: MerchantIdentifier
    ) throws -> NewKeyPair {
        let publicKey = key.subjectPublicKeyInfo
        let hash = PublicKeyHash(of: publicKey)
        let binding = KeyBinding(
            merchantIdentifier: merchant, publicKeyHash: hash, purpose: purpose, algorithm: bytes.algorithm)
        return NewKeyPair(
            publicKeyHash: hash, algorithm: bytes.algorithm, purpose: purpose, subjectPublicKeyInfo: publicKey,
            certificateSigningRequest: try SigningRequest.create(for: merchant, key: key),
            sealedPrivateKey: keyring.seal(bytes, to: binding))
    }

    /// Reads and unseals a key that may decrypt, and refuses any other key. The callers also check this, but an
    /// identity key must never decrypt, even if a caller has a bug.
    private func decryptionKey(_ hash: PublicKeyHash) throws -> DecryptionKey {
        guard let found = try readKeyPair(hash), found.keyPair.purpose == .paymentProcessing else {
            throw Self.notFound(hash)
        }
        switch found.keyPair.state {
        case .standby, .current, .retiring: return try unsealAndVerify(found).key
        // Decryptors may not use a pending key pair, so to them it does not exist.
        case .pending: throw Self.notFound(hash)
        case .revoked: throw MerchantError(.keyRevoked, "the key pair \(hash) is revoked")
        case .destroyed: throw Self.destroyed(hash)
        }
    }

    /// Unseals a private key, and checks that its public half has the stored publicKeyHash. This also works for an
    /// identity key: a ``DecryptionKey`` can be created from any private key.
    private func unsealAndVerify(_ found: SealedKeyPair) throws -> UnsealedKey {
        let binding = KeyBinding(found.keyPair)
        let bytes = try unseal(found)
        guard let key = try? DecryptionKey(bytes, of: binding.merchantIdentifier),
            key.publicKeyHash == binding.publicKeyHash
        else { throw Keyring.damaged(binding, "is not the private half of that key pair") }
        return UnsealedKey(bytes: bytes, key: key)
    }

    /// Unseals a private key. If a rotation has sealed the key under another data key since `found` was read, reads the
    /// key pair from the store again.
    func unseal(_ found: SealedKeyPair) throws -> PrivateKeyBytes {
        do { return try keyring.open(found.sealedPrivateKey, of: KeyBinding(found.keyPair)) } catch {
            guard !keyring.holds(found.sealedPrivateKey.dataKeyIdentifier),
                let again = try readKeyPair(found.keyPair.publicKeyHash)
            else { throw error }
            return try keyring.open(again.sealedPrivateKey, of: KeyBinding(found.keyPair))
        }
    }

    /// An unsealed private key, as bytes and as an object that decrypts.
    private struct UnsealedKey: ~Copyable {
        let bytes: PrivateKeyBytes
        let key: DecryptionKey
    }

    private static func requirePermitted(_ algorithm: KeyAlgorithm, for purpose: KeyPurpose) throws(MerchantError) {
        guard purpose == .paymentProcessing || algorithm == .rsaV1 else {
            throw MerchantError(
                .keyUnsupported,
                "the key is P-256, but a key with the purpose identity must be RSA-2048 (algorithm RSA_v1)")
        }
    }

    static func notFound(_ hash: PublicKeyHash) -> MerchantError {
        MerchantError(.keyNotFound, "no key pair has the publicKeyHash \(hash)")
    }

    static func destroyed(_ hash: PublicKeyHash) -> MerchantError {
        MerchantError(.keyDestroyed, "the private key of the key pair \(hash) was destroyed")
    }
}
