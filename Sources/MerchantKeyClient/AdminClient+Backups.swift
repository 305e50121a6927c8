import NIOCore
import NIOHTTP1
package import WireAPI

extension AdminClient {
    /// Creates a backup in a new file.
    ///
    /// - Parameter file: an absolute path on the daemon's machine.
    package func createBackup(at file: String) async throws(ClientError) -> Response<BackupDocument> {
        try await longCall(Paths.backups, file)
    }

    /// Verifies a backup. The daemon restores the backup into a temporary directory, decrypts every private key and
    /// verifies the audit chain.
    ///
    /// - Parameter file: an absolute path on the daemon's machine.
    package func verifyBackup(_ file: String) async throws(ClientError) -> Response<BackupVerificationDocument> {
        try await longCall(Paths.backupVerification, file)
    }

    /// Sends a request with a timeout of six hours, because the daemon needs long to copy or verify a large database.
    private func longCall<Document: Decodable & Sendable>(
        _ path: String, _ file: String
    ) async throws(ClientError) -> Response<Document> {
        var call = SocketCall(method: .POST, path: path, body: try .encoded(BackupRequest(file: file)))
        call.timeout = .hours(6)
        return try await httpClient.fetch(call)
    }
}
