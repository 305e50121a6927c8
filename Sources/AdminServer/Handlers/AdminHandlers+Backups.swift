import HTTPTypes
import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension AdminHandlers {
    func createBackup(_ call: AdminCall) async throws -> Answer {
        let body: BackupRequest = try call.read()
        let manifest = try await operations.backups.createBackup(at: body.file, for: call.request)
        return try Answer(BackupDocument(manifest, file: body.file), status: .created)
    }

    func verifyBackup(_ call: AdminCall) async throws -> Answer {
        let body: BackupRequest = try call.read()
        let verification = try await operations.backups.verifyBackup(body.file, for: call.request)
        return try Answer(BackupVerificationDocument(verification, file: body.file))
    }
}
