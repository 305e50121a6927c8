import FoundationEssentials
import Glibc
import MerchantKeyClient
import Vocabulary
import WireAPI

/// `certificate upload DIRECTORY`: uploads every certificate in a directory.
struct CertificateFiles {
    struct Item: BulkItem {
        let name: String
        /// The bytes of the file; nil if the file could not be read.
        let bytes: Data?
        /// SHA-256 of the file, in hexadecimal; empty if the file could not be read.
        let sha256: String
        /// Why the file could not be read; nil if it was read.
        let failure: CommandFailure?

        /// The file's hash: if it has changed, a run handles the file as a new item.
        var content: String { sha256 }
        /// Always nil: each certificate file is one item, so an item has no line number.
        var place: String? { nil }
    }

    static let subcommand = "certificate upload"
    static let suffixes = [".cer", ".crt", ".pem", ".der"]
    /// The daemon's limit for a certificate, in bytes.
    static let sizeLimit = 65_536

    private let directory: String
    private let merchant: MerchantIdentifier?
    /// The names of the certificate files, sorted.
    let names: [String]

    /// - Throws: ``CommandFailure`` if the directory can't be read, or contains no file with one of the ``suffixes``.
    init(in directory: String, merchant: MerchantIdentifier?) throws(CommandFailure) {
        self.directory = directory.hasSuffix("/") ? directory : "\(directory)/"
        self.merchant = merchant
        guard let stream = opendir(directory) else {
            throw CommandFailure(.failed, "can't read \(directory): \(String(cString: strerror(errno)))")
        }
        defer { closedir(stream) }
        var found: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            let lower = name.lowercased()
            if !name.hasPrefix("."), Self.suffixes.contains(where: lower.hasSuffix) { found.append(name) }
        }
        guard !found.isEmpty else {
            throw CommandFailure(
                .failed,
                "\(directory) contains no certificate: no file's name ends in \(Self.suffixes.joined(separator: ", "))")
        }
        names = found.sorted()
    }

    /// Uploads the files, several at the same time.
    func upload(_ admin: AdminClient, _ options: BulkOptions, isQuiet: Bool) async throws -> BulkSummary {
        let report = try options.openReport(
            of: Self.subcommand, defaultPath: "\(directory)certificate-upload.report.jsonl")
        let runStart = try await admin.status().document.time
        var remainingNames = names[...]
        let bulk = BulkRun<Item>(report: report, concurrency: options.concurrency, isQuiet: isQuiet)
        return try await bulk.run(total: names.count) {
            remainingNames.popFirst().map(item)
        } act: { [merchant] item, earlier in
            // If this throws a `CommandFailure`, the run records it as the failure of this item and continues.
            guard let bytes = item.bytes else { throw item.failure ?? CommandFailure(.failed, "can't be read") }
            // A certificate's fingerprint is the SHA-256 of its DER. A file that is not PEM is itself DER.
            let fingerprint = PEM.firstCertificate(in: bytes).map(Self.sha256) ?? item.sha256
            func certificate(in key: KeyDocument) -> CertificateDocument? {
                key.certificates.first { $0.fingerprint == fingerprint }
            }
            // If an earlier run has uploaded the certificate, only check that the daemon still has it: the daemon would
            // refuse a second upload if the key pair has been revoked since. But if the key pair is active and the
            // issuer was not verified, upload the certificate again, because the daemon may now be able to verify the
            // issuer.
            if let hash = earlier?.publicKeyHash, let key = try await admin.keyIfAny(hash),
                let known = certificate(in: key), known.issuerVerified || !key.state.isActive
            {
                return .unchanged(Self.result(key))
            }
            let key = try await admin.uploadCertificate(bytes, of: merchant).document
            // A certificate that was stored before this run is not a result of this run.
            if let storedAt = certificate(in: key)?.storedAt, storedAt < runStart {
                return .unchanged(Self.result(key))
            }
            return .done(Self.result(key))
        }
    }

    /// The details for the report.
    private static func result(_ key: KeyDocument) -> [String: String] {
        var details = [
            "merchantIdentifier": key.merchantIdentifier.rawValue, "publicKeyHash": key.publicKeyHash.base64,
            "state": key.state.rawValue, "notAfter": key.notAfter?.rfc3339 ?? "",
        ]
        if let warnings = key.warnings { details["warnings"] = warnings.joined(separator: "; ") }
        return details
    }

    private func item(_ name: String) -> Item {
        do throws(CommandFailure) {
            let bytes = try InputFile(directory + name).read(sizeLimit: Self.sizeLimit)
            return Item(name: name, bytes: bytes, sha256: Self.sha256(bytes), failure: nil)
        } catch {
            return Item(name: name, bytes: nil, sha256: "", failure: error)
        }
    }

    /// The SHA-256 of any bytes, in hexadecimal. `PublicKeyHash` computes the hash, although these bytes are not a
    /// public key.
    private static func sha256(_ bytes: Data) -> String { PublicKeyHash(of: bytes).hex }
}

extension AdminClient {
    /// The key pair with this publicKeyHash; nil if the daemon does not have the key pair.
    fileprivate func keyIfAny(_ hash: PublicKeyHash) async throws(ClientError) -> KeyDocument? {
        do throws(ClientError) {
            return try await key(hash).document
        } catch .refused(let refusal) where refusal.status == 404 {
            return nil
        }
    }
}
