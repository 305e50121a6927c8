package import Vocabulary

extension Paths {
    /// Lists key pairs of all merchants: with `?prefix=TEXT`, those whose publicKeyHash begins with the text; with
    /// `?state=STATE`, those in the state; with `?endingBefore=TIME`, active ones whose certificate expires before the
    /// time.
    package static let keys = "/v1/keys"

    package static func keys(of merchant: MerchantIdentifier) -> String { "\(Self.merchant(merchant))/keys" }

    /// Imports a key to the merchant that its certificate names.
    package static let keyImport = "\(keys)/import"

    package static func keyImport(to merchant: MerchantIdentifier) -> String { "\(keys(of: merchant))/import" }

    package static func key(_ hash: PublicKeyHash) -> String { "\(keys)/\(hash.base64URL)" }

    package static func csr(of hash: PublicKeyHash) -> String { "\(key(hash))/csr" }

    /// An operation that changes the state of a key pair. The raw value is the last segment of the operation's path.
    package enum KeyTransition: String, CaseIterable, Sendable {
        case promote, revoke, restore, destroy
    }

    package static func keyTransition(_ transition: KeyTransition, _ hash: PublicKeyHash) -> String {
        "\(key(hash))/\(transition.rawValue)"
    }
}

/// A key pair as the admin socket and the portal show it, always without the private key.
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
    /// When the certificate in use begins to be valid; absent if the key pair has no certificate. The certificate in
    /// use is the newest valid certificate, or if no certificate is valid, the certificate that expires last.
    package var notBefore: Timestamp?
    /// When the certificate in use expires; absent if the key pair has no certificate.
    package var notAfter: Timestamp?
    package var revocationReason: String?
    /// When the daemon will erase the private key; absent if no destruction is scheduled.
    package var destroyAfter: Timestamp?
    /// When the private key was last exported; absent if it was never exported.
    package var exportedAt: Timestamp?
    /// Absent for a key pair that was never used.
    package var use: KeyUseDocument?
    /// Every certificate stored for this key pair, sorted by `notBefore`, latest first.
    package var certificates: [CertificateDocument] = []
    /// The certificate signing request, PKCS#10 in PEM. Present only if the request generates or reads a single key
    /// pair, and in a merchant's `pendingKeyPairs`.
    package var csr: String?
    /// What the caller should know about the certificate that the request uploaded or imported; absent if there are no
    /// warnings.
    package var warnings: [String]?
    /// `true` if the request uploaded a certificate that was stored before. Of this certificate, at most
    /// `issuerVerified` has changed. Otherwise absent.
    package var alreadyStored: Bool?
    /// The key pair that still needs a certificate. Present only in a response of the portal with `alreadyStored`, and
    /// only if there is such a key pair.
    package var awaitedPublicKeyHash: PublicKeyHash?

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
    /// The number of uses, and the times of the first use and the last use.
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
    /// Decryptions of payment tokens that were also verified for the current time, and of verified metadata of merchant
    /// tokens. They prove that Apple uses the key.
    package var decryptions: UseSummary?

    package init() {}
}

/// The response to promoting, revoking, restoring or destroying a key. It reports what the operation changed, or in a
/// dry run, what the operation would change.
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
    /// The changes of all key pairs, not only of the key pair in the request. Empty if no key pair's state changes.
    package var transitions: [Transition] = []
    /// Consequences of the operation that an admin should know, one sentence each.
    package var warnings: [String] = []
    /// The daemons that may still use the key pairs as they were before, because they cannot reach the database.
    /// Absent if there are none.
    package var staleNodes: [NodeName]?
    /// The key pair in the request, as it is after the operation.
    package let key: KeyDocument

    package init(_ key: KeyDocument) { self.key = key }
}

/// The body of `POST /v1/merchants/{merchantIdentifier}/keys`.
package struct GenerateKeyRequest: RequestBody {
    /// If absent, RSA_v1 for the purpose identity, otherwise EC_v1.
    package var algorithm: KeyAlgorithm?
    /// If absent, paymentProcessing.
    package var purpose: KeyPurpose?

    package init() {}
}

/// The body of `POST /v1/merchants/{merchantIdentifier}/keys/import` and of `POST /v1/keys/import`.
package struct ImportKeyRequest: RequestBody {
    /// The private key's file, PEM or PKCS#12, encoded in Base64.
    package let privateKey: String
    /// The certificate's file, PEM or DER, encoded in Base64. Can be omitted if the private key's file contains the
    /// certificate.
    package var certificate: String?
    /// The passphrase of the private key's file, if the file is encrypted.
    package var passphrase: String?
    /// Which private key of the file, counted from 1. Can be omitted if the file has only one.
    package var keyNumber: Int?
    /// The state of the imported key pair: `standby` (default), `current` or `retiring`.
    package var state: KeyState?
    /// If absent, paymentProcessing.
    package var purpose: KeyPurpose?
    /// Whether to accept a certificate that has expired.
    package var allowExpired: Bool?

    package init(privateKey: String) { self.privateKey = privateKey }
}

/// The body of `POST /v1/keys/{publicKeyHash}/promote` and `/restore`.
package struct KeyTransitionRequest: RequestBody {
    package var dryRun: Bool?

    package init() {}
}

/// The body of `POST /v1/keys/{publicKeyHash}/revoke`.
package struct RevokeKeyRequest: RequestBody {
    /// Any text of 1 to 1024 bytes. The reason `compromised` has an effect: it also permits revoking the merchant's
    /// last active key.
    package let reason: String
    package var dryRun: Bool?

    package init(reason: String) { self.reason = reason }
}

/// The body of `POST /v1/keys/{publicKeyHash}/destroy`.
package struct DestroyKeyRequest: RequestBody {
    /// The delay before the private key is erased, at most ten years. If absent, 30 days. With 0, the private key is
    /// erased at once.
    package var afterSeconds: Int?
    package var dryRun: Bool?

    package init() {}
}
