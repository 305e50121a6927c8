import NIOCore
import NIOHTTP1
package import WireAPI

extension AdminClient {
    /// Creates a backup in a new file.
    ///
    /// - Parameter file: an absolute path on the daemon's machine.
    package func createBackup(at file: String) async throws(ClientError) -> Response<BackupDocument> {
        try await longCall(Paths.backups, BackupRequest(file: file))
    }

    /// Verifies a backup. The daemon restores the backup into a temporary directory, decrypts every private key and
    /// verifies the audit chain.
    ///
    /// - Parameters:
    ///   - file: an absolute path on the daemon's machine.
    ///   - renameIfNotGood: whether the daemon appends `.not-good` to the name of the file if the backup is not good.
    package func verifyBackup(
        _ file: String, renameIfNotGood: Bool? = nil
    ) async throws(ClientError) -> Response<BackupVerificationDocument> {
        try await longCall(
            Paths.backupVerification, BackupVerificationRequest(file: file, renameIfNotGood: renameIfNotGood))
    }

    /// Sends a request with a timeout of six hours, because the daemon needs long to copy or verify a large database.
    private func longCall<Document: Decodable & Sendable>(
        _ path: String, _ body: some RequestBody
    ) async throws(ClientError) -> Response<Document> {
        var call = SocketCall(method: .POST, path: path, body: try .encoded(body))
        call.timeout = .hours(6)
        return try await httpClient.fetch(call)
    }
}
