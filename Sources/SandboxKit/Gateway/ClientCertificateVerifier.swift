import SwiftASN1
import Vocabulary
import X509

/// Checks client certificates after the TLS handshake, because an HTTP response can contain the reason of a rejection.
/// A failed handshake would only close the connection.
struct ClientCertificateVerifier: Sendable {
    private let issuer: Certificate

    init(_ authority: SandboxAuthority) { issuer = authority[.identityIssuer].certificate }

    /// Returns why a client certificate is rejected; nil if it is accepted.
    ///
    /// - Parameter der: the client certificate in DER; nil if the client presented none.
    func rejectionReason(for der: [UInt8]?, at now: Timestamp) -> String? {
        guard let der else { return "no client certificate was presented" }
        guard let certificate = try? Certificate(derEncoded: der) else {
            return "the client certificate is not an X.509 certificate"
        }
        guard certificate.issuer == issuer.subject,
            issuer.publicKey.isValidSignature(certificate.signature, for: certificate)
        else { return "the client certificate was not issued as an identity certificate by this sandbox" }
        guard let usage = try? certificate.extensions.extendedKeyUsage, usage.contains(.clientAuth) else {
            return "the extended key usage of the client certificate does not include client authentication"
        }
        let (notBefore, notAfter) = (Timestamp(certificate.notValidBefore), Timestamp(certificate.notValidAfter))
        if now > notAfter { return "the client certificate expired at \(notAfter)" }
        if now < notBefore { return "the client certificate is not valid before \(notBefore)" }
        return nil
    }
}
