import HTTPTypes
import MerchantCore
import MerchantOperations
import RESTKit
import Vocabulary
import WireAPI

extension AdminRoutes {
    static let backups: [AdminRoute] = [
        .changes(.post, "/v1/backups", logMessage: "backup created", AdminHandlers.createBackup),
        .changes(.post, "/v1/backups/verification", logMessage: "backup verified", AdminHandlers.verifyBackup),
    ]
}

extension AdminHandlers {
    func createBackup(_ call: RESTCall) async throws -> RESTResponse {
        let body: BackupRequest = try call.read()
        let manifest = try await operations.backups.createBackup(at: body.file, for: call.request)
        return try RESTResponse(BackupDocument(manifest, file: body.file), status: .created)
    }

    func verifyBackup(_ call: RESTCall) async throws -> RESTResponse {
        let body: BackupVerificationRequest = try call.read()
        let verification = try await operations.backups.verifyBackup(
            body.file, renamesIfNotGood: body.renameIfNotGood ?? false, for: call.request)
        return try RESTResponse(BackupVerificationDocument(verification, file: verification.newPath ?? body.file))
    }
}
