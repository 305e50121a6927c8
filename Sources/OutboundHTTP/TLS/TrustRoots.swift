import NIOSSL

/// The root certificates to which a server's certificate must chain.
package struct TrustRoots: Hashable, Sendable {
    let roots: NIOSSLTrustRoots

    /// The roots of the operating system's certificate store.
    package static let system = TrustRoots(roots: .default)

    private init(roots: NIOSSLTrustRoots) { self.roots = roots }

    /// - Parameter pem: the contents of one or more PEM files, concatenated.
    /// - Throws: ``TrustRootsError`` if `pem` contains no certificate.
    package init(pem: [UInt8]) throws(TrustRootsError) {
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(pem), !certificates.isEmpty else {
            throw TrustRootsError()
        }
        roots = .certificates(certificates)
    }
}

/// The PEM text contains no certificate.
package struct TrustRootsError: Error, Hashable, Sendable, CustomStringConvertible {
    package var description: String { "found no PEM certificate, expected at least one trusted root" }
}
