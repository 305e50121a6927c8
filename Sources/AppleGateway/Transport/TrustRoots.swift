import NIOSSL

/// The roots that a server's certificate must lead to.
package struct TrustRoots: Sendable {
    let roots: NIOSSLTrustRoots

    /// Those that the machine trusts.
    package static let system = TrustRoots(roots: .default)

    private init(roots: NIOSSLTrustRoots) { self.roots = roots }

    /// - Parameter pem: the text of one or more files, joined.
    /// - Throws: ``TransportSetupError`` where there are none.
    package init(pem: [UInt8]) throws(TransportSetupError) {
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(pem), !certificates.isEmpty else {
            throw TransportSetupError("found no PEM certificate, expected at least one trusted root")
        }
        roots = .certificates(certificates)
    }
}

/// Why the way to Apple cannot be set up: what was found and what was expected.
package struct TransportSetupError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
