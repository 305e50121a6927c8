import NIOCore
import NIOHTTP1
package import WireAPI

extension AdminClient {
    /// Creates a backup in a new file on the daemon's machine.
    package func createBackup(at file: String) async throws(ClientError) -> Response<BackupDocument> {
        try await longCall(Paths.backups, file)
    }

    /// Verifies a backup. The daemon restores the backup into a temporary directory, unseals every key and checks the
    /// audit chain.
    package func verifyBackup(_ file: String) async throws(ClientError) -> Response<BackupVerificationDocument> {
        try await longCall(Paths.backupVerification, file)
    }

    /// Sends a request that takes time in proportion to the size of the database, with a timeout of six hours.
    private func longCall<Document: Decodable & Sendable>(
        _ path: String, _ file: String
    ) async throws(ClientError) -> Response<Document> {
        var call = SocketCall(method: .POST, path: path, body: try .encoded(BackupRequest(file: file)))
        call.timeout = .hours(6)
        return try await connection.fetch(call)
    }
}
