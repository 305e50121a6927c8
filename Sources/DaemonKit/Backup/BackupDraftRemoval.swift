import MerchantOperations
import SQLiteStore
import ServiceLifecycle

/// Removes the unfinished backup that a killed daemon left behind. It is a service because the disk may hang, which must not delay the start.
struct BackupDraftRemoval: Service {
    /// Read before this daemon creates backups of its own.
    let draft: String?
    let store: SQLiteStore

    func run() async throws {
        if let draft { await WorkThreads.waiting.run { await store.removeBackupDraft(draft) } }
        try await gracefulShutdown()
    }
}
