import FoundationEssentials
import Glibc
import MerchantKeyClient
import Vocabulary
import WireAPI

/// `certificate upload DIRECTORY`: every certificate in a directory.
struct CertificateFiles {
    struct Item: BulkItem {
        let name: String
        /// SHA-256 over the file: a certificate that replaced another is uploaded too.
        let content: String
        let bytes: Data?
        /// Why it could not be read.
        let failure: CommandFailure?

        var place: String? { nil }
    }

    static let verb = "certificate upload"
    static let endings = [".cer", ".crt", ".pem", ".der"]
    /// What the daemon takes.
    static let largest = 65_536

    private let directory: String
    private let merchant: MerchantIdentifier?
    /// By name.
    let names: [String]

    /// - Throws: ``CommandFailure`` where the directory can't be read, or holds no certificate.
    init(in directory: String, merchant: MerchantIdentifier?) throws(CommandFailure) {
        self.directory = directory.hasSuffix("/") ? directory : "\(directory)/"
        self.merchant = merchant
        guard let stream = opendir(directory) else {
            throw CommandFailure(.refused, "can't read \(directory): \(String(cString: strerror(errno)))")
        }
        defer { closedir(stream) }
        var found: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            let lower = name.lowercased()
            if !name.hasPrefix("."), Self.endings.contains(where: lower.hasSuffix) { found.append(name) }
        }
        guard !found.isEmpty else {
            throw CommandFailure(
                .refused, "\(directory) holds no certificate, expected files that end in .cer, .crt, .pem or .der")
        }
        names = found.sorted()
    }

    func upload(_ admin: AdminClient, _ options: BulkOptions) async throws -> BulkSummary {
        let report = try options.open(Self.verb, standard: "\(directory)certificate-upload.report.jsonl")
        var rest = names[...]
        return try await BulkRun(Self.verb, report: report, concurrency: options.concurrency).run(total: names.count) {
            rest.popFirst().map(item)
        } act: { [merchant] item in
            guard let bytes = item.bytes else { throw item.failure ?? CommandFailure(.refused, "can't be read") }
            let key = try await admin.uploadCertificate(bytes, of: merchant).document
            return .done([
                "merchantIdentifier": key.merchantIdentifier, "publicKeyHash": key.publicKeyHash, "state": key.state,
                "notAfter": key.notAfter ?? "",
            ])
        }
    }

    private func item(_ name: String) -> Item {
        do throws(CommandFailure) {
            let bytes = try InputFile(directory + name).read(largest: Self.largest)
            return Item(name: name, content: PublicKeyHash(of: bytes).hex, bytes: bytes, failure: nil)
        } catch {
            return Item(name: name, content: "", bytes: nil, failure: error)
        }
    }
}
