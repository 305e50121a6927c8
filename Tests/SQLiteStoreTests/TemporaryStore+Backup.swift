import MerchantCore
import SQLiteStore

extension TemporaryStore {
    func backUp(to path: String) async throws -> BackupManifest {
        let draft = BackupFile.draft(of: path)
        return try await BackupFile.create(at: path, draft: draft, programVersion: "1", at: Sample.time) {
            try await store.writeBackup(to: draft, named: path)
        }
    }
}
