package import FoundationEssentials
import Glibc
import MerchantKeyClient
import Vocabulary
import WireAPI

/// Writes CSRs into a directory, one file for each CSR.
package enum CSRFile {
    /// The file's name: the merchant identifier, the first 8 hexadecimal digits of the publicKeyHash, and `-identity`
    /// for an identity key. The merchant identifier is truncated to 200 characters, because file systems limit a name
    /// to 255 bytes.
    static func name(of key: KeyDocument) -> String {
        let merchant = key.merchantIdentifier.rawValue.prefix(200)
        let suffix = key.purpose == .identity ? "-identity" : ""
        return "\(merchant)-\(key.publicKeyHash.hex.prefix(8))\(suffix).certSigningRequest"
    }

    /// Writes a key pair's CSR, as PEM.
    ///
    /// - Returns: the path of the file, and whether the file is new.
    /// - Throws: ``CommandFailure`` if the file cannot be written, or exists with other content.
    static func write(_ key: KeyDocument, to directory: Directory) throws -> (path: String, isNew: Bool) {
        guard let csr = key.csr else { throw ClientError.protocolViolation("a pending key pair has no CSR") }
        let path = directory.path(ofFile: name(of: key))
        return (path, try write(Data(csr.utf8), to: path, overwrites: false))
    }

    /// Writes the whole file or nothing; ``WholeFile`` names the exception. Does not wait until the file is on stable
    /// storage: after a power failure the file may be missing, but the daemon still has the CSR.
    ///
    /// - Parameter link: link(2); tests replace it.
    /// - Returns: false if the file already existed with this content.
    /// - Throws: ``CommandFailure`` if the file cannot be written, or if it exists with other content and `overwrites`
    ///   is false.
    package static func write(
        _ bytes: Data, to path: String, overwrites: Bool, link: WholeFile.Link = { Glibc.link($0, $1) }
    ) throws(CommandFailure) -> Bool {
        if access(path, F_OK) == 0 {
            if hasContent(bytes, path) { return false }
            guard overwrites else { throw existsFailure(path) }
        }
        switch WholeFile.write(to: path, overwrites: overwrites, link: link, content: { bytes.write(to: $0) }) {
        case .written: return true
        case .exists:
            // Another program has created the file since the check above.
            guard hasContent(bytes, path) else { throw existsFailure(path) }
            return false
        case .failed(let code):
            throw CommandFailure(.failed, "can't write \(path): \(String(cString: strerror(code)))")
        }
    }

    /// Whether the file has this content. False if the file can't be read.
    private static func hasContent(_ bytes: Data, _ path: String) -> Bool { (try? InputFile(path).read()) == bytes }

    private static func existsFailure(_ path: String) -> CommandFailure {
        CommandFailure(
            .failed,
            "\(path) exists with other content; move the file away, or use 'key csr --all-pending --force'")
    }
}
