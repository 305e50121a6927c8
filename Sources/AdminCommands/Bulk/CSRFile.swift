import FoundationEssentials
import Glibc
import MerchantKeyClient
import Vocabulary
import WireAPI

/// Writes CSRs into a directory, one file for each CSR.
enum CSRFile {
    /// The file's name: the merchant identifier, truncated to 200 characters because file systems limit a name to 255
    /// bytes, and the first 8 hexadecimal digits of the publicKeyHash.
    static func name(of key: KeyDocument) -> String {
        let suffix = key.purpose == .identity ? "-identity" : ""
        return
            "\(key.merchantIdentifier.rawValue.prefix(200))-\(key.publicKeyHash.hex.prefix(8))\(suffix).certSigningRequest"
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

    /// Writes the whole file or nothing. Does not wait until the file is on stable storage: after a power failure the
    /// file may be missing, but the daemon still has the CSR.
    ///
    /// - Returns: false if the file already existed with this content.
    /// - Throws: ``CommandFailure`` if the file exists with other content and `overwrites` is false.
    static func write(_ bytes: Data, to path: String, overwrites: Bool) throws(CommandFailure) -> Bool {
        if access(path, F_OK) == 0 {
            // A file that can't be read counts as a file with other content.
            if let found = try? InputFile(path).read(), found == bytes { return false }
            guard overwrites else {
                throw CommandFailure(.refused, "\(path) exists with other content; move the file away and try again")
            }
        }
        let temporaryPath = "\(path).\(getpid()).new"
        let descriptor = open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure(path, errno) }
        defer { unlink(temporaryPath) }
        var code = bytes.write(to: descriptor)
        if close(descriptor) != 0, code == 0 { code = errno }
        guard code == 0 else { throw failure(path, code) }
        // Unlike rename(2), link(2) fails if the name exists. So a file that was created since the check is not
        // overwritten.
        guard (overwrites ? rename(temporaryPath, path) : link(temporaryPath, path)) == 0 else {
            throw failure(path, errno)
        }
        return true
    }

    private static func failure(_ path: String, _ code: Int32) -> CommandFailure {
        CommandFailure(.refused, "can't write \(path): \(String(cString: strerror(code)))")
    }
}
