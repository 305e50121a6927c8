import FoundationEssentials
import Glibc
import Vocabulary
import WireAPI

/// The private keys in a directory, or in one file: PKCS#12, PEM, and Java keystores.
struct KeyFiles {
    /// A PKCS#12 file, or one private key with its certificate.
    struct Item: BulkItem {
        let name: String
        let content: String
        /// nil if there is a ``failure``.
        var privateKey: Data?
        /// The certificate's file; nil if the private key's file contains the certificate.
        var certificate: Data?
        var passphrase: String?
        /// Why this program could not read the private key or its certificate; nil if it read both.
        var failure: CommandFailure?

        var place: String? { nil }

        /// Why the file cannot be imported; nil if this program finds no reason. The daemon may still refuse the file.
        var faultFoundHere: String? {
            failure?.message
                ?? privateKey.flatMap { KeyFileForm.fault($0, hasPassphrase: passphrase?.isEmpty == false) }
        }
    }

    static let suffixes = [".p12", ".pfx", ".pem", ".key"] + JavaKeystore.suffixes
    private static let certificateSuffixes = [".cer", ".crt", ".der", ".pem"]
    /// The daemon's limit for a private key file, in bytes.
    private static let sizeLimit = 65_536

    /// With a final slash.
    let directory: String
    /// The names of the directory's files with one of the ``suffixes``, sorted; or only the name of the given file.
    let names: [String]

    /// - Parameter path: a directory, or one file.
    /// - Throws: ``CommandFailure`` if the directory can't be read, or contains no file with one of the ``suffixes``.
    init(_ path: String) throws(CommandFailure) {
        guard Directory.exists(path) else {
            let slash = path.lastIndex(of: "/")
            directory = slash.map { String(path[...$0]) } ?? "./"
            names = [slash.map { String(path[path.index(after: $0)...]) } ?? path]
            return
        }
        directory = path.hasSuffix("/") ? path : "\(path)/"
        let found: [String]
        do { found = try FileManager.default.contentsOfDirectory(atPath: path) } catch {
            throw CommandFailure(.failed, "can't read \(path): check the path and its permissions")
        }
        names = found.filter { name in
            !name.hasPrefix(".") && Self.suffixes.contains { name.lowercased().hasSuffix($0) }
        }.sorted()
        guard !names.isEmpty else {
            throw CommandFailure(
                .failed,
                "\(path) contains no private key: no file's name ends in \(Self.suffixes.joined(separator: ", "))")
        }
    }

    /// The items of one file: none for a PEM file without a private key, such as a certificate, and one for each
    /// private key of a Java keystore. A PKCS#12 file is one item, because only the daemon opens it. A file that can't
    /// be read, or a PEM key without its certificate, is an item with a failure.
    func items(ofFile name: String, passphrase: String?) -> [Item] {
        do throws(CommandFailure) {
            let isKeystore = JavaKeystore.suffixes.contains { name.lowercased().hasSuffix($0) }
            let bytes = try InputFile(directory + name).read(
                sizeLimit: isKeystore ? JavaKeystore.sizeLimit : Self.sizeLimit)
            let content = PublicKeyHash(of: bytes).hex
            if isKeystore {
                return try JavaKeystore(path: directory + name, passphrase: passphrase ?? "").entries().map { entry in
                    Item(
                        name: "\(name)#\(entry.alias)", content: content, privateKey: entry.pkcs12,
                        passphrase: entry.passphrase)
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let isPEM = text.contains("-----BEGIN ")
            guard !isPEM || text.contains("PRIVATE KEY-----") else { return [] }
            var item = Item(name: name, content: content, privateKey: bytes, passphrase: passphrase)
            if isPEM, PEM.firstCertificate(in: bytes) == nil { item.certificate = try certificate(besideKey: name) }
            return [item]
        } catch {
            return [Item(name: name, content: "", failure: error)]
        }
    }

    /// The certificate in the file with the same name and another suffix.
    private func certificate(besideKey name: String) throws(CommandFailure) -> Data {
        let stem = name.lastIndex(of: ".").map { name[..<$0] } ?? name[...]
        for suffix in Self.certificateSuffixes where "\(stem)\(suffix)" != name {
            let path = "\(directory)\(stem)\(suffix)"
            if access(path, F_OK) == 0 { return try InputFile(path).read(sizeLimit: CertificateFiles.sizeLimit) }
        }
        let expected = Self.certificateSuffixes.map { "\(stem)\($0)" }.joined(separator: ", ")
        throw CommandFailure(
            .failed,
            "the file contains no certificate, and there is no certificate file in its directory; expected one of \(expected)"
        )
    }
}
