import Crypto
import SwiftASN1
package import Vocabulary
import X509

/// Certificates of web servers in tests: the server that stands in for Apple's gateway, and merchants' web sites.
extension SandboxAuthority {
    /// The certificate and the private key of a server, both in PEM.
    package struct ServerCredentials: Sendable {
        package let certificate: String
        /// The private key as PKCS#8.
        package let privateKey: String
    }

    /// Generates a P-256 key and issues a server certificate for it. The root signs the certificate, so that clients
    /// need no intermediate.
    ///
    /// - Parameter notAfter: the end of the validity period; if nil, 90 days after `notBefore`.
    package func issueServerCredentials(
        names: [SandboxServerName], notBefore: Timestamp, notAfter: Timestamp? = nil
    ) throws -> ServerCredentials {
        guard let first = names.first else { throw SandboxError("a server certificate needs at least one name") }
        let end = notAfter ?? notBefore.adding(.seconds(90 * 86_400))
        guard notBefore < end else {
            throw SandboxError("notAfter \(end) must be later than notBefore \(notBefore)")
        }
        let key = P256.Signing.PrivateKey()
        let template = CertificateTemplate(
            subject: try SandboxName.server(first), role: .server(names), notBefore: notBefore, notAfter: end)
        let certificate = try self[.root].certify(template, publicKey: .init(key.publicKey))
        return ServerCredentials(
            certificate: try certificate.serializeAsPEM().pemString + "\n", privateKey: key.pemRepresentation + "\n")
    }
}
