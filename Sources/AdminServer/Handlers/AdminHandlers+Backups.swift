import HTTPTypes
import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension AdminRoute {
    static let backups: [AdminRoute] = [
        changes(.post, "/v1/backups", logMessage: "backup created", AdminHandlers.createBackup),
        changes(.post, "/v1/backups/verification", logMessage: "backup verified", AdminHandlers.verifyBackup),
    ]
}

extension AdminHandlers {
    func createBackup(_ call: AdminCall) async throws -> AdminResponse {
        let body: BackupRequest = try call.read()
        let manifest = try await operations.backups.createBackup(at: body.file, for: call.request)
        return try AdminResponse(BackupDocument(manifest, file: body.file), status: .created)
    }

    func verifyBackup(_ call: AdminCall) async throws -> AdminResponse {
        let body: BackupRequest = try call.read()
        let verification = try await operations.backups.verifyBackup(body.file, for: call.request)
        return try AdminResponse(BackupVerificationDocument(verification, file: body.file))
    }
}
