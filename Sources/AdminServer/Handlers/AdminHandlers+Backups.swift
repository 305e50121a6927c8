import HTTPTypes
import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension AdminHandlers {
    func createBackup(_ call: AdminCall) async throws -> Answer {
        let body: BackupRequest = try call.read()
        let manifest = try await operations.createBackup(at: body.file, for: call.request)
        return try Answer(BackupDocument(manifest, file: body.file), status: .created)
    }

    func tryOutBackup(_ call: AdminCall) async throws -> Answer {
        let body: BackupRequest = try call.read()
        let drill = try await operations.tryOutBackup(body.file, for: call.request)
        return try Answer(BackupDrillDocument(drill, file: body.file))
    }
}
