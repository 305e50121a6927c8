import SwiftASN1
import X509

/// Where a hierarchy is kept: for each part `NAME.pem`, its certificate, and `NAME.key.pem`, its private key (mode 0600;
/// PKCS#8 for EC, PKCS#1 for RSA).
///
/// `root.pem` is written last: where it stands, everything else does.
package struct AuthorityDirectory: Sendable {
    private let path: String

    package init(_ path: String) { self.path = path }

    /// Keeps a new hierarchy; the directory is made where it is missing.
    ///
    /// - Throws: ``SandboxFault``, with every file untouched, where there is a hierarchy already or a part of one.
    package func store(_ authority: SandboxAuthority) throws {
        try refuseExisting()
        try Files.makeDirectory(path)
        for part in SandboxAuthority.Part.allCases {
            let member = authority[part]
            let key = try member.privateKey.serializeAsPEM().pemString + "\n"
            try Files.create(Array(key.utf8), at: keyPath(part), mode: 0o600)
            try Files.create(Array(member.pem.utf8), at: certificatePath(part), mode: 0o644)
        }
    }

    /// - Throws: ``SandboxFault`` naming what is missing or does not fit.
    package func load() throws -> SandboxAuthority {
        guard Files.exists(certificatePath(.root)) else {
            throw SandboxFault("found no root.pem in '\(path)', expected a hierarchy: run init there first")
        }
        return try SandboxAuthority { part in
            let certificate = try read(certificatePath(part), "a certificate") { try Certificate(pemEncoded: $0) }
            let key = try read(keyPath(part), "a private key") { try Certificate.PrivateKey(pemEncoded: $0) }
            return try CertifiedKey(certificate: certificate, privateKey: key)
        }
    }

    /// Refuses before keys are made, so that a second `init` answers at once.
    package func refuseExisting() throws(SandboxFault) {
        if Files.exists(certificatePath(.root)) {
            throw SandboxFault(
                "found a hierarchy in '\(path)' already and left it as it is, expected a directory without root.pem")
        }
        let remains = SandboxAuthority.Part.allCases.flatMap { [certificatePath($0), keyPath($0)] }
            .filter(Files.exists)
        guard remains.isEmpty else {
            throw SandboxFault(
                "found the remains of an interrupted init, expected none: remove \(remains.joined(separator: ", "))")
        }
    }

    private func certificatePath(_ part: SandboxAuthority.Part) -> String { "\(path)/\(part.rawValue).pem" }

    private func keyPath(_ part: SandboxAuthority.Part) -> String { "\(path)/\(part.rawValue).key.pem" }

    private func read<Value>(
        _ path: String, _ expected: String, parse: (String) throws -> Value
    ) throws(SandboxFault) -> Value {
        let text = String(decoding: try Files.read(path), as: UTF8.self)
        do {
            return try parse(text)
        } catch { throw SandboxFault("found '\(path)' unreadable, expected \(expected) as init wrote it") }
    }
}
