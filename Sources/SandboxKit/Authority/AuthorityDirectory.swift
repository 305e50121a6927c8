import SwiftASN1
import X509

/// A directory that contains a CA hierarchy. Each CA and token signer has two files: `NAME.pem`, its certificate, and
/// `NAME.key.pem`, its private key (mode 0600; PKCS#8 for EC, PKCS#1 for RSA).
///
/// `root.pem` is written last. So if `root.pem` exists, the hierarchy is complete.
package struct AuthorityDirectory: Sendable {
    private let path: String

    package init(_ path: String) { self.path = path }

    /// Stores a new hierarchy. Creates the directory if it does not exist.
    ///
    /// - Throws: ``SandboxError``, without a change, if the directory contains any file of a hierarchy.
    package func store(_ authority: SandboxAuthority) throws {
        try requireNoHierarchy()
        try Files.createDirectory(path)
        for member in SandboxAuthority.Member.allCases {
            let certifiedKey = authority[member]
            let key = try certifiedKey.privateKey.serializeAsPEM().pemString + "\n"
            try Files.create(Array(key.utf8), at: keyPath(member), mode: 0o600)
            try Files.create(Array(certifiedKey.pem.utf8), at: certificatePath(member), mode: 0o644)
        }
    }

    /// Loads the hierarchy.
    ///
    /// - Throws: ``SandboxError`` if a file is missing or not valid, or if a private key does not belong to its
    ///   certificate.
    package func load() throws -> SandboxAuthority {
        guard Files.exists(certificatePath(.root)) else {
            throw SandboxError(
                "'\(path)' contains no root.pem: run 'applepay-sandbox init' with this directory first")
        }
        return try SandboxAuthority { member in
            let certificate = try read(certificatePath(member), "a certificate") { try Certificate(pemEncoded: $0) }
            let key = try read(keyPath(member), "a private key") { try Certificate.PrivateKey(pemEncoded: $0) }
            return try CertifiedKey(certificate: certificate, privateKey: key)
        }
    }

    /// Checks that the directory contains no file of a hierarchy. Call this method before you generate keys, because
    /// generating keys is slow.
    ///
    /// - Throws: ``SandboxError`` if the directory contains any file of a hierarchy.
    package func requireNoHierarchy() throws(SandboxError) {
        if Files.exists(certificatePath(.root)) {
            throw SandboxError(
                "'\(path)' already contains a CA hierarchy (root.pem), and nothing was changed: "
                    + "choose another directory")
        }
        let leftovers = SandboxAuthority.Member.allCases.flatMap { [certificatePath($0), keyPath($0)] }
            .filter(Files.exists)
        guard leftovers.isEmpty else {
            throw SandboxError(
                "'\(path)' contains files of an 'applepay-sandbox init' that was interrupted: "
                    + "remove \(leftovers.joined(separator: ", "))")
        }
    }

    private func certificatePath(_ member: SandboxAuthority.Member) -> String { "\(path)/\(member.rawValue).pem" }

    private func keyPath(_ member: SandboxAuthority.Member) -> String { "\(path)/\(member.rawValue).key.pem" }

    private func read<Value>(
        _ path: String, _ expected: String, parse: (String) throws -> Value
    ) throws(SandboxError) -> Value {
        let text = String(decoding: try Files.read(path), as: UTF8.self)
        do {
            return try parse(text)
        } catch { throw SandboxError("'\(path)' is not \(expected) in PEM") }
    }
}
