package import Vocabulary

/// A key pair without its private key, which only the ``KeyCustodian`` handles.
package struct KeyPair: Hashable, Sendable {
    /// The origin of the key pair.
    package enum Origin: String, Sendable, CaseIterable {
        case generated, imported
    }

    package let publicKeyHash: PublicKeyHash
    package let merchantIdentifier: MerchantIdentifier
    package let algorithm: KeyAlgorithm
    package let purpose: KeyPurpose
    package let origin: Origin
    package var state: KeyState
    package let createdAt: Timestamp
    /// When the key pair entered its present state.
    package var stateSince: Timestamp
    package var revocationReason: String?
    /// When the private key will be destroyed. Set only while the key pair is `revoked`; a restore removes this time.
    package var destroyAfter: Timestamp?
    /// When the private key was last exported; nil if it never was. The daemon does not see how the exported copy is
    /// used.
    package var exportedAt: Timestamp?

    package init(
        publicKeyHash: PublicKeyHash, merchantIdentifier: MerchantIdentifier, algorithm: KeyAlgorithm,
        purpose: KeyPurpose, origin: Origin, state: KeyState, createdAt: Timestamp, stateSince: Timestamp,
        revocationReason: String? = nil, destroyAfter: Timestamp? = nil, exportedAt: Timestamp? = nil
    ) {
        self.publicKeyHash = publicKeyHash
        self.merchantIdentifier = merchantIdentifier
        self.algorithm = algorithm
        self.purpose = purpose
        self.origin = origin
        self.state = state
        self.createdAt = createdAt
        self.stateSince = stateSince
        self.revocationReason = revocationReason
        self.destroyAfter = destroyAfter
        self.exportedAt = exportedAt
    }
}

/// A key pair that was just generated or imported, in the form in which it will be stored.
package struct NewKeyPair: Sendable {
    package let publicKeyHash: PublicKeyHash
    package let algorithm: KeyAlgorithm
    package let purpose: KeyPurpose
    /// DER, RFC 5280 section 4.1.2.7.
    package let subjectPublicKeyInfo: [UInt8]
    /// PKCS#10 in DER, RFC 2986.
    package let certificateSigningRequest: [UInt8]
    package let sealedPrivateKey: SealedPrivateKey

    package init(
        publicKeyHash: PublicKeyHash, algorithm: KeyAlgorithm, purpose: KeyPurpose, subjectPublicKeyInfo: [UInt8],
        certificateSigningRequest: [UInt8], sealedPrivateKey: SealedPrivateKey
    ) {
        self.publicKeyHash = publicKeyHash
        self.algorithm = algorithm
        self.purpose = purpose
        self.subjectPublicKeyInfo = subjectPublicKeyInfo
        self.certificateSigningRequest = certificateSigningRequest
        self.sealedPrivateKey = sealedPrivateKey
    }
}

/// A private key that only the ``KeyCustodian`` can unseal. It is encrypted with AES-256-GCM under a data key, and
/// bound to merchant, publicKeyHash, purpose and algorithm as associated data.
package struct SealedPrivateKey: Hashable, Sendable {
    /// The version of the layout of `bytes`, so that the layout can change later.
    package let version: Int
    package let dataKeyIdentifier: Int
    /// Nonce, ciphertext, tag.
    package let bytes: [UInt8]

    package init(version: Int, dataKeyIdentifier: Int, bytes: [UInt8]) {
        self.version = version
        self.dataKeyIdentifier = dataKeyIdentifier
        self.bytes = bytes
    }
}
