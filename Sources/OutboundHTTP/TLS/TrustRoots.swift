import NIOSSL

/// The root certificates to which a server's certificate must chain.
package struct TrustRoots: Sendable {
    let roots: NIOSSLTrustRoots

    /// The roots that the machine trusts.
    package static let system = TrustRoots(roots: .default)

    private init(roots: NIOSSLTrustRoots) { self.roots = roots }

    /// - Parameter pem: the contents of one or more files, joined.
    /// - Throws: ``TrustRootsError`` unless there is at least one certificate.
    package init(pem: [UInt8]) throws(TrustRootsError) {
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(pem), !certificates.isEmpty else {
            throw TrustRootsError()
        }
        roots = .certificates(certificates)
    }
}

package struct TrustRootsError: Error, Hashable, Sendable, CustomStringConvertible {
    package var description: String { "found no PEM certificate, expected at least one trusted root" }
}
