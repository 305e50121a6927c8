import FoundationEssentials
import Glibc
import MerchantKeyClient
import Vocabulary
import WireAPI

/// Where one of many CSRs is written.
enum CSRFile {
    /// Names the merchant and the first 8 hexadecimal digits of the publicKeyHash, as the daemon does.
    ///
    /// - Parameter merchant: cut where it would make the name longer than file systems take.
    static func name(of hash: PublicKeyHash, merchant: String, isIdentity: Bool) -> String {
        "\(merchant.prefix(200))-\(hash.hex.prefix(8))\(isIdentity ? "-identity" : "").certSigningRequest"
    }

    /// The CSR of a key pair that is shown with it, as PEM.
    ///
    /// - Returns: where it is, and whether it was not there before.
    /// - Throws: ``CommandFailure`` where it cannot be written, or is there with another content.
    static func write(_ key: KeyDocument, to directory: Directory) throws -> (path: String, isNew: Bool) {
        guard let csr = key.csr, let hash = PublicKeyHash(anySpelling: key.publicKeyHash) else {
            throw ClientError.protocolViolation("found a pending key pair without its CSR")
        }
        let isIdentity = key.purpose == KeyPurpose.identity.rawValue
        let path = directory.file(name(of: hash, merchant: key.merchantIdentifier, isIdentity: isIdentity))
        return (path, try write(Data(csr.utf8), to: path, overwrites: false))
    }

    /// Whole or not at all. A loss of power may take it: the daemon has it still.
    ///
    /// - Returns: false where it was there with this content.
    /// - Throws: ``CommandFailure`` where it is there with another content.
    static func write(_ bytes: Data, to path: String, overwrites: Bool) throws(CommandFailure) -> Bool {
        if access(path, F_OK) == 0 {
            if let found = try? InputFile(path).read(), found == bytes { return false }
            guard overwrites else {
                throw CommandFailure(.refused, "\(path) exists with another content, expected none or --force")
            }
        }
        let draft = "\(path).\(getpid()).new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure(path, errno) }
        var code = bytes.write(to: descriptor)
        if close(descriptor) != 0, code == 0 { code = errno }
        if code == 0, rename(draft, path) != 0 { code = errno }
        guard code == 0 else {
            unlink(draft)
            throw failure(path, code)
        }
        return true
    }

    private static func failure(_ path: String, _ code: Int32) -> CommandFailure {
        CommandFailure(.refused, "can't write \(path): \(String(cString: strerror(code)))")
    }
}
