import SwiftASN1
import Vocabulary
import X509

/// Judges client certificates in HTTP and not in TLS, so that a client with a wrong one is told why.
struct ClientCertificateVerifier: Sendable {
    private let issuer: Certificate

    init(_ authority: SandboxAuthority) { issuer = authority[.identityIssuer].certificate }

    /// - Parameter der: what the client showed; nil where it showed nothing.
    /// - Returns: what is wrong with it, or nil.
    func objection(to der: [UInt8]?, at now: Timestamp) -> String? {
        guard let der else { return "no client certificate was presented" }
        guard let certificate = try? Certificate(derEncoded: der) else { return "the client certificate is no X.509" }
        guard certificate.issuer == issuer.subject,
            issuer.publicKey.isValidSignature(certificate.signature, for: certificate)
        else { return "the client certificate was not issued as an identity certificate by this sandbox" }
        guard let usage = try? certificate.extensions.extendedKeyUsage, usage.contains(.clientAuth) else {
            return "the client certificate is not for client authentication"
        }
        let (begin, end) = (Timestamp(certificate.notValidBefore), Timestamp(certificate.notValidAfter))
        if now > end { return "the client certificate expired at \(end)" }
        if now < begin { return "the client certificate is not valid before \(begin)" }
        return nil
    }
}
