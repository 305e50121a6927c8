package import Vocabulary

/// Where the gateway finds what it shows to Apple in TLS.
package protocol IdentitySource: Sendable {
    /// The identity for connections made from now on: of several valid ones the newest. Asked before every exchange, so that
    /// a change takes effect without a restart.
    ///
    /// - Throws: ``IdentityError`` where there is none to present.
    func identity(at time: Timestamp) throws(IdentityError) -> ClientIdentity
}

/// A client certificate and the right to sign with its private key, which stays where it is.
package struct ClientIdentity: Sendable {
    /// DER, the identity's own certificate first.
    package let certificateChain: [[UInt8]]
    package let publicKeyHash: PublicKeyHash
    package let notBefore: Timestamp
    package let notAfter: Timestamp
    /// What the key can sign with, most wanted first.
    package let signatureAlgorithms: [TLSSignatureAlgorithm]
    /// Signs bytes that were not hashed before; may take milliseconds.
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

/// SignatureScheme of TLS, by its number on the wire. Source: RFC 8446 section 4.2.3.
package enum TLSSignatureAlgorithm: UInt16, Sendable, CaseIterable {
    case rsaPKCS1SHA256 = 0x0401
    case rsaPKCS1SHA384 = 0x0501
    case rsaPKCS1SHA512 = 0x0601
    case rsaPSSSHA256 = 0x0804
    case rsaPSSSHA384 = 0x0805
    case rsaPSSSHA512 = 0x0806
    case ecdsaP256SHA256 = 0x0403

    /// What an RSA key offers: PSS first, which is all that TLS 1.3 takes; PKCS #1 v1.5 for TLS 1.2.
    package static let rsa: [TLSSignatureAlgorithm] = [
        .rsaPSSSHA256, .rsaPSSSHA384, .rsaPSSSHA512, .rsaPKCS1SHA256, .rsaPKCS1SHA384, .rsaPKCS1SHA512,
    ]
}

/// Why there is no identity to present.
package enum IdentityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Nothing was set up: no file is named and no key pair of the purpose identity is active.
    case notConfigured(String)
    /// There is one, but it has ended, does not fit or cannot be read.
    case unusable(String)

    /// Lower case, without anything secret.
    package var description: String {
        switch self {
        case .notConfigured(let text), .unusable(let text): text
        }
    }
}
