import Crypto
import SwiftASN1
package import Vocabulary
import X509

/// Web servers for tests: the sandbox's gateway and merchants' sites.
extension SandboxAuthority {
    /// A certificate with its private key, both PEM.
    package struct ServerCredentials: Sendable {
        package let certificate: String
        /// PKCS#8.
        package let privateKey: String
    }

    /// Makes a P-256 key and has the root certify it, so that a client which trusts `root.pem` needs nothing else.
    ///
    /// - Parameter notAfter: 90 days after `notBefore`, unless given.
    package func issueServerCredentials(
        names: [SandboxServerName], notBefore: Timestamp, notAfter: Timestamp? = nil
    ) throws -> ServerCredentials {
        guard let first = names.first else { throw SandboxFault("found no name, expected at least one") }
        let end = notAfter ?? notBefore.adding(.seconds(90 * 86_400))
        guard notBefore < end else {
            throw SandboxFault("found an end of validity at \(end), expected one after \(notBefore)")
        }
        let key = P256.Signing.PrivateKey()
        let template = CertificateTemplate(
            subject: try SandboxName.server(first), role: .server(names), notBefore: notBefore, notAfter: end)
        let certificate = try self[.root].certify(template, publicKey: .init(key.publicKey))
        return ServerCredentials(
            certificate: try certificate.serializeAsPEM().pemString + "\n", privateKey: key.pemRepresentation + "\n")
    }
}
