package import Vocabulary

extension Paths {
    /// With `?prefix=`, lists the key pairs whose publicKeyHash begins with these characters. With `?state=`, lists the
    /// key pairs in this state.
    package static let keys = "/v1/keys"

    package static func keys(of merchant: MerchantIdentifier) -> String { "\(Self.merchant(merchant))/keys" }

    package static func keyImport(to merchant: MerchantIdentifier) -> String { "\(keys(of: merchant))/import" }

    package static func key(_ hash: PublicKeyHash) -> String { "\(keys)/\(hash.base64URL)" }

    package static func csr(of hash: PublicKeyHash) -> String { "\(key(hash))/csr" }

    package enum KeyTransition: String, CaseIterable, Sendable {
        case promote, revoke, restore, destroy
    }

    package static func keyTransition(_ transition: KeyTransition, _ hash: PublicKeyHash) -> String {
        "\(key(hash))/\(transition.rawValue)"
    }
}

/// A key pair as the admin socket shows it. It never contains private key bytes.
package struct KeyDocument: Codable, Hashable, Sendable {
    package let publicKeyHash: PublicKeyHash
    package let merchantIdentifier: MerchantIdentifier
    package let algorithm: KeyAlgorithm
    package let purpose: KeyPurpose
    package let state: KeyState
    /// `generated` or `imported`.
    package let origin: String
    package let createdAt: Timestamp
    /// When the key pair entered its state.
    package let stateSince: Timestamp
    /// The validity of the certificate in use: the newest valid certificate, or if none is valid, the one that expires
    /// last. Absent if the key pair has no certificate.
    package var notBefore: Timestamp?
    package var notAfter: Timestamp?
    package var revocationReason: String?
    /// When the daemon will erase the private key; absent if no destruction is scheduled.
    package var destroyAfter: Timestamp?
    /// When the private key was last exported; absent if it never was.
    package var exportedAt: Timestamp?
    /// Absent for a key pair that was never used.
    package var use: KeyUseDocument?
    /// Every certificate stored for this key pair, newest first.
    package var certificates: [CertificateDocument] = []
    /// The CSR, PKCS#10 in PEM. Present only in the responses to generating and reading one key pair, and in a
    /// merchant's `pendingKeyPairs`.
    package var csr: String?

    package init(
        _ hash: PublicKeyHash, of merchant: MerchantIdentifier, algorithm: KeyAlgorithm, purpose: KeyPurpose,
        origin: String, createdAt: Timestamp, state: KeyState, since: Timestamp
    ) {
        (publicKeyHash, merchantIdentifier) = (hash, merchant)
        (self.algorithm, self.purpose, self.origin) = (algorithm, purpose, origin)
        (self.createdAt, self.state, stateSince) = (createdAt, state, since)
    }
}

/// How a key pair was used. The counts can be up to 5 seconds old.
package struct KeyUseDocument: Codable, Hashable, Sendable {
    /// The number of uses, and the times of the first and the last one.
    package struct UseSummary: Codable, Hashable, Sendable {
        package let count: Int
        package let first: Timestamp
        package let last: Timestamp

        package init(_ count: Int, from first: Timestamp, to last: Timestamp) {
            (self.count, self.first, self.last) = (count, first, last)
        }
    }

    /// Requests that named the key pair's publicKeyHash. The hash is public, so such requests do not prove that Apple
    /// uses the key.
    package var requests: UseSummary?
    /// Tokens that were decrypted and verified, including the authentication tag of AES-GCM.
    package var decryptions: UseSummary?

    package init() {}
}

/// The response to promoting, revoking, restoring or destroying a key: what changed, or with `dryRun` would change.
package struct KeyTransitionDocument: Codable, Hashable, Sendable {
    /// The change of one key pair's state.
    package struct Transition: Codable, Hashable, Sendable {
        package let publicKeyHash: PublicKeyHash
        package let from: KeyState
        package let to: KeyState

        package init(_ hash: PublicKeyHash, from: KeyState, to: KeyState) {
            publicKeyHash = hash
            (self.from, self.to) = (from, to)
        }
    }

    package var dryRun = false
    /// All changed key pairs, not only the one in the request. Empty if every key pair already has the requested state.
    package var transitions: [Transition] = []
    /// Consequences that the caller should confirm.
    package var warnings: [String] = []
    /// The key pair after the operation.
    package let key: KeyDocument

    package init(_ key: KeyDocument) { self.key = key }
}

/// `POST /v1/merchants/{merchantIdentifier}/keys`. With an empty body, the algorithm is EC_v1 and the purpose
/// paymentProcessing.
package struct GenerateKeyRequest: RequestBody {
    package var algorithm: KeyAlgorithm?
    package var purpose: KeyPurpose?

    package init() {}
}

/// `POST /v1/merchants/{merchantIdentifier}/keys/import`.
package struct ImportKeyRequest: RequestBody {
    /// Base64 of the file: PEM or PKCS#12.
    package let privateKey: String
    /// Base64 of the file: PEM or DER.
    package let certificate: String
    package var passphrase: String?
    /// The state of the imported key pair: `standby` (default), `current` or `retiring`.
    package var state: KeyState?
    package var purpose: KeyPurpose?
    /// Whether to accept a certificate that has expired.
    package var allowExpired: Bool?

    package init(privateKey: String, certificate: String) {
        (self.privateKey, self.certificate) = (privateKey, certificate)
    }
}

/// `POST /v1/keys/{publicKeyHash}/promote` and `/restore`.
package struct KeyTransitionRequest: RequestBody {
    package var dryRun: Bool?

    package init() {}
}

/// `POST /v1/keys/{publicKeyHash}/revoke`.
package struct RevokeKeyRequest: RequestBody {
    /// 1 to 1024 bytes. With the reason `compromised`, even the last active key is revoked.
    package let reason: String
    package var dryRun: Bool?

    package init(reason: String) { self.reason = reason }
}

/// `POST /v1/keys/{publicKeyHash}/destroy`.
package struct DestroyKeyRequest: RequestBody {
    /// The delay before the private key is erased, at most ten years. If absent, 30 days. With 0, the key is erased at
    /// once.
    package var afterSeconds: Int?
    package var dryRun: Bool?

    package init() {}
}
