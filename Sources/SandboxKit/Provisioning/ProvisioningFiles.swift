import SwiftASN1

/// The files that `applepay-sandbox provisioning-certificates` writes. `provision` and `serve` read the private key.
struct ProvisioningFiles {
    let directory: String

    private var leaf: String { "\(directory)/provisioning-leaf.pem" }
    private var subCA: String { "\(directory)/provisioning-sub-ca.pem" }
    /// The path of the leaf's private key.
    var privateKey: String { "\(directory)/provisioning-leaf.key.pem" }

    /// Checks that none of the files exists. Call this method before you generate a key.
    ///
    /// - Throws: ``SandboxError`` if one of the files exists.
    func requireAbsent() throws(SandboxError) {
        let existing = [leaf, subCA, privateKey].filter(Files.exists)
        guard existing.isEmpty else {
            throw SandboxError(
                "\(existing.joined(separator: ", ")) already exists, and nothing was changed: "
                    + "remove the file, or choose another directory with --out-directory")
        }
    }

    /// Creates the files, and the directory if it does not exist.
    func store(_ credentials: SandboxAuthority.ProvisioningCredentials) throws(SandboxError) {
        try Files.createDirectory(directory)
        try Files.create(Array(credentials.privateKey.utf8), at: privateKey, mode: 0o600)
        try Files.create(Self.pem(credentials.subCA), at: subCA, mode: 0o644)
        try Files.create(Self.pem(credentials.leaf), at: leaf, mode: 0o644)
    }

    private static func pem(_ certificate: [UInt8]) -> [UInt8] {
        Array((PEMDocument(type: "CERTIFICATE", derBytes: certificate).pemString + "\n").utf8)
    }
}
