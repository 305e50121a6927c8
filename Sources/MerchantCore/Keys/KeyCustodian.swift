package import Secrets
package import Vocabulary

/// The only part of the daemon that handles private keys.
package protocol KeyCustodian: Sendable {
    /// Generates a key pair and its CSR. Returns the private key in sealed (encrypted) form.
    func generateKeyPair(
        algorithm: KeyAlgorithm, purpose: KeyPurpose, for merchant: MerchantIdentifier
    ) throws -> NewKeyPair

    /// Reads an existing private key and seals it.
    ///
    /// - Parameters:
    ///   - privateKey: PEM (PKCS#8, SEC1, PKCS#1, also encrypted) or PKCS#12.
    ///   - number: which private key of the file, counted from 1; nil for the only one.
    ///   - passphrase: empty if the file is not encrypted.
    /// - Returns: the key pair, and the certificate from the same file: ``ImportedKeyPair/certificate``.
    /// - Throws: ``MerchantError`` `privateKeyMalformed`, `wrongPassphrase`, `privateKeyNotChosen`, `keyUnsupported`,
    ///   `tooLarge`, or `malformed` (a passphrase that is too long or contains a zero byte).
    func importKeyPair(
        privateKey: borrowing SecretBytes, number: Int?, passphrase: borrowing SecretBytes, purpose: KeyPurpose,
        for merchant: MerchantIdentifier
    ) throws -> ImportedKeyPair

    /// Reads a private key file, and returns what ``ImportedKeyPair/certificate`` would be. The parameters and errors
    /// are those of ``importKeyPair(privateKey:number:passphrase:purpose:for:)``.
    func certificate(
        inPrivateKeyFile file: borrowing SecretBytes, number: Int?, passphrase: borrowing SecretBytes
    ) throws -> [UInt8]?

    /// Reads one certificate: PEM (text before the block is skipped) or DER.
    ///
    /// - Throws: `certificateMalformed`, `certificateChain` (more than one certificate), `privateKeyUploaded`,
    ///   `keyUnsupported` or `tooLarge`.
    func readCertificate(_ upload: [UInt8]) throws -> CertificateFacts

    /// Reads the certificate of a TLS client: one certificate in PEM or DER. Its key may be of any type, because only
    /// TLS uses it.
    ///
    /// - Returns: the SHA-256 of the certificate in DER.
    /// - Throws: `certificateMalformed`, `certificateChain`, `privateKeyUploaded` or `tooLarge`.
    func fingerprint(ofClientCertificate upload: [UInt8]) throws -> Bits256

    /// Verifies that the certificate chains to a CA of the setting `trust.certificate-issuers`.
    func issuerFinding(for certificate: CertificateFacts, at time: Timestamp) async -> IssuerFinding

    /// Derives (EC_v1) or unwraps (RSA_v1) a token's symmetric key with an active payment processing key pair: one in
    /// the state `standby`, `current` or `retiring`. May read the store, and block the calling thread.
    ///
    /// - Returns: 32 bytes for EC_v1, 16 for RSA_v1.
    /// - Throws: `keyNotFound`, `keyRevoked`, `keyDestroyed`, `keyDamaged`, `storeUnavailable`, or `malformed` (a point
    ///   that is not on the curve, a wrong length). If an RSA unwrap fails for another cause, the error is
    ///   `decryptionFailed` with the same detail for every cause, so that it does not reveal the cause.
    func symmetricKey(_ hash: PublicKeyHash, from material: SymmetricKeyMaterial) throws -> SecretBytes

    /// As ``symmetricKey(_:from:)``, but does not read the store, so it may be called on an event loop. Returns nil if
    /// the private key is not in memory.
    func cachedSymmetricKey(_ hash: PublicKeyHash, from material: SymmetricKeyMaterial) throws -> SecretBytes?

    /// Returns a private key as PKCS#8 PEM. Before the call, the caller must check the permit and record the action.
    func exportPrivateKey(_ hash: PublicKeyHash) throws -> SecretBytes
}

extension KeyCustodian {
    /// For custodians whose private key files contain no certificate.
    package func certificate(
        inPrivateKeyFile file: borrowing SecretBytes, number: Int?, passphrase: borrowing SecretBytes
    ) throws -> [UInt8]? { nil }

    /// For custodians that have all their keys in memory.
    package func cachedSymmetricKey(
        _ hash: PublicKeyHash, from material: SymmetricKeyMaterial
    ) throws -> SecretBytes? {
        try symmetricKey(hash, from: material)
    }
}

/// A key pair that was read from a private key file.
package struct ImportedKeyPair: Sendable {
    package let keyPair: NewKeyPair
    /// The key's certificate from the same file, in DER; nil if there is none. If no certificate in the file is for
    /// this key, and the file has no other key, this is the file's first certificate, which the caller must refuse.
    package let certificate: [UInt8]?

    package init(keyPair: NewKeyPair, certificate: [UInt8]?) {
        self.keyPair = keyPair
        self.certificate = certificate
    }
}

/// The part of a token from which its symmetric key is derived or unwrapped.
package enum SymmetricKeyMaterial: Hashable, Sendable {
    /// EC_v1: DER SubjectPublicKeyInfo of a P-256 point.
    case ephemeralPublicKey([UInt8])
    /// RSA_v1: 256 bytes.
    case wrappedKey([UInt8])

    package var algorithm: KeyAlgorithm {
        switch self {
        case .ephemeralPublicKey: .ecV1
        case .wrappedKey: .rsaV1
        }
    }
}

/// A sealed (encrypted and authenticated) private key, and its key pair. The encryption also covers the key pair's
/// merchant, publicKeyHash, purpose and algorithm: the private key can be unsealed only if all of them are unchanged.
package struct SealedKeyPair: Sendable {
    package let keyPair: KeyPair
    package let sealedPrivateKey: SealedPrivateKey

    package init(keyPair: KeyPair, sealedPrivateKey: SealedPrivateKey) {
        self.keyPair = keyPair
        self.sealedPrivateKey = sealedPrivateKey
    }
}

/// Stores the data keys, which encrypt private keys. Each data key is stored only sealed (encrypted) with the master
/// key.
package protocol DataKeyRepository: Sendable {
    /// Every stored data key, including those that are retired: ``SealedDataKey/isRetired``.
    func dataKeys() throws -> [SealedDataKey]
    /// Stores the data key, which is on stable storage when the method returns.
    func insert(_ dataKey: SealedDataKey) throws
}

/// A data key that is encrypted with the master key.
package struct SealedDataKey: Hashable, Sendable {
    package let identifier: Int
    /// Nonce, ciphertext, tag.
    package let bytes: [UInt8]
    /// A value derived from the master key. If the data key cannot be unsealed, this value shows whether the row is
    /// damaged or was sealed by another master key.
    package let masterKeyCheck: [UInt8]
    package let createdAt: Timestamp

    package init(identifier: Int, bytes: [UInt8], masterKeyCheck: [UInt8], createdAt: Timestamp) {
        self.identifier = identifier
        self.bytes = bytes
        self.masterKeyCheck = masterKeyCheck
        self.createdAt = createdAt
    }

    /// Identifies the master key that sealed the data key.
    package var masterKeyIdentifier: MasterKeyIdentifier { MasterKeyIdentifier(bytes: masterKeyCheck) }

    /// Whether the data key was overwritten with zeros. A rotation overwrites a data key when no private key is
    /// encrypted with it any more.
    package var isRetired: Bool { bytes.allSatisfy { $0 == 0 } }
}
