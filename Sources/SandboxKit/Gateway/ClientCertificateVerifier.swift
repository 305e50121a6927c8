import SwiftASN1
import Vocabulary
import X509

/// Checks client certificates after the TLS handshake, because an HTTP response can contain the reason of a rejection.
/// A failed handshake would only close the connection.
struct ClientCertificateVerifier: Sendable {
    private let issuer: Certificate

    init(_ authority: SandboxAuthority) { issuer = authority[.identityIssuer].certificate }

    /// Returns the client with this certificate.
    ///
    /// - Parameter der: the client certificate in DER; nil if the client presented none.
    /// - Throws: ``SandboxError`` with the reason why the certificate is rejected.
    func client(with der: [UInt8]?, at now: Timestamp) throws(SandboxError) -> GatewayClient {
        guard let der else { throw SandboxError("no client certificate was presented") }
        guard let certificate = try? Certificate(derEncoded: der) else {
            throw SandboxError("the client certificate is not an X.509 certificate")
        }
        guard certificate.issuer == issuer.subject,
            issuer.publicKey.isValidSignature(certificate.signature, for: certificate)
        else {
            throw SandboxError("the client certificate was not issued as an identity certificate by this sandbox")
        }
        guard let usage = try? certificate.extensions.extendedKeyUsage, usage.contains(.clientAuth) else {
            throw SandboxError(
                "the extended key usage of the client certificate does not include client authentication")
        }
        let (notBefore, notAfter) = (Timestamp(certificate.notValidBefore), Timestamp(certificate.notValidAfter))
        if now > notAfter { throw SandboxError("the client certificate expired at \(notAfter)") }
        if now < notBefore { throw SandboxError("the client certificate is not valid before \(notBefore)") }
        return try GatewayClient(certificate)
    }
}
