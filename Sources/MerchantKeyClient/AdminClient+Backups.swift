import NIOCore
import NIOHTTP1
package import WireAPI

extension AdminClient {
    /// Has a backup written to a new file on the daemon's machine.
    package func createBackup(at file: String) async throws(ClientError) -> Answer<BackupDocument> {
        try await slow(Paths.backups, file)
    }

    /// Has a backup restored elsewhere and everything in it opened.
    package func verifyBackup(_ file: String) async throws(ClientError) -> Answer<BackupVerificationDocument> {
        try await slow(Paths.backupVerification, file)
    }

    /// Both take time in proportion to the database.
    private func slow<Document: Decodable & Sendable>(
        _ path: String, _ file: String
    ) async throws(ClientError) -> Answer<Document> {
        var call = SocketCall(method: .POST, path: path, body: try .encoded(BackupRequest(file: file)))
        call.patience = .hours(6)
        return try await connection.fetch(call)
    }
}
