package import Vocabulary

/// The source of the client certificate for TLS connections to Apple.
package protocol IdentitySource: Sendable {
    /// The identity for new connections: the newest valid identity of the owner. The gateway calls
    /// ``cachedIdentity(of:at:)`` before every request to Apple, and this method if the result is nil. So a new
    /// identity takes effect without a restart.
    ///
    /// - Throws: ``IdentityError`` if there is no identity to present.
    func identity(of owner: IdentityOwner, at time: Timestamp) throws(IdentityError) -> ClientIdentity

    /// The identity that ``identity(of:at:)`` would return, if it is known without a wait for a file or the store.
    func cachedIdentity(of owner: IdentityOwner, at time: Timestamp) -> ClientIdentity?
}

extension IdentitySource {
    package func cachedIdentity(of owner: IdentityOwner, at time: Timestamp) -> ClientIdentity? { nil }
}

/// A client certificate and a function that signs with its private key.
package struct ClientIdentity: Sendable {
    /// Certificates in DER, the identity's own certificate first.
    package let certificateChain: [[UInt8]]
    package let publicKeyHash: PublicKeyHash
    package let notBefore: Timestamp
    package let notAfter: Timestamp
    /// The algorithms that the key supports, preferred ones first.
    package let signatureAlgorithms: [TLSSignatureAlgorithm]
    /// Hashes the bytes and signs the hash; may take milliseconds.
    package let sign: @Sendable (TLSSignatureAlgorithm, [UInt8]) throws -> [UInt8]

    package init(
        certificateChain: [[UInt8]], publicKeyHash: PublicKeyHash, notBefore: Timestamp, notAfter: Timestamp,
        signatureAlgorithms: [TLSSignatureAlgorithm],
        sign: @escaping @Sendable (TLSSignatureAlgorithm, [UInt8]) throws -> [UInt8]
    ) {
        self.certificateChain = certificateChain
        self.publicKeyHash = publicKeyHash
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.signatureAlgorithms = signatureAlgorithms
        self.sign = sign
    }
}

/// A SignatureScheme of TLS, RFC 8446 section 4.2.3. The raw value is its number in the protocol.
package enum TLSSignatureAlgorithm: UInt16, Sendable, CaseIterable {
    case rsaPKCS1SHA256 = 0x0401
    case rsaPKCS1SHA384 = 0x0501
    case rsaPKCS1SHA512 = 0x0601
    case rsaPSSSHA256 = 0x0804
    case rsaPSSSHA384 = 0x0805
    case rsaPSSSHA512 = 0x0806
    case ecdsaP256SHA256 = 0x0403

    /// The algorithms of an RSA key: PSS first, which TLS 1.3 requires; PKCS #1 v1.5 for TLS 1.2.
    package static let rsa: [TLSSignatureAlgorithm] = [
        .rsaPSSSHA256, .rsaPSSSHA384, .rsaPSSSHA512, .rsaPKCS1SHA256, .rsaPKCS1SHA384, .rsaPKCS1SHA512,
    ]
}

/// Why there is no client certificate to present to Apple.
package enum IdentityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// For a merchant: it has no active key pair with the purpose `identity`. For the platform: the same, and the
    /// settings name no certificate file.
    case notConfigured(String)
    /// The identity has expired, is not valid yet, does not match its key or cannot be read.
    case unusable(String)

    /// A text in lower case, without secrets.
    package var description: String {
        switch self {
        case .notConfigured(let text), .unusable(let text): text
        }
    }
}
