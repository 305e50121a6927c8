import FoundationEssentials
import Glibc
import MerchantKeyClient
import Vocabulary
import WireAPI

/// A directory that CSRs are written to, one file a key pair, named for the merchant and the publicKeyHash.
struct CSRDirectory {
    let path: String

    init(_ path: String) { self.path = path }

    /// Writes the CSRs of the merchant's pending key pairs. One that is there already is left: the same key pair's CSR is the
    /// same, so an interrupted run goes on where it ended.
    ///
    /// - Returns: the files written now.
    func writePending(of merchant: MerchantIdentifier, _ admin: AdminClient) async throws -> [String] {
        var written: [String] = []
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
            throw CommandFailure(.refused, "can't make the directory \(path): \(String(cString: strerror(errno)))")
        }
        for key in try await admin.keys(of: merchant).items where key.state == KeyState.pending.rawValue {
            guard let hash = PublicKeyHash(anySpelling: key.publicKeyHash) else {
                throw ClientError.protocolViolation("found a publicKeyHash that is none")
            }
            let file = "\(path)/\(merchant)-\(hash.hex.prefix(8)).csr"
            guard access(file, F_OK) != 0 else { continue }
            try OutputFile(file, overwrites: false).write(try await admin.csr(of: hash, as: .pem))
            written.append(file)
        }
        return written
    }
}
