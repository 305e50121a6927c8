import MerchantOperations
import SQLiteStore
import ServiceLifecycle

/// Removes the unfinished backup that a killed daemon left behind. It is a service, so that a disk that hangs does not
/// delay the start.
struct BackupDraftRemoval: Service {
    /// The unfinished file; nil if there is none. Determined before this daemon creates its first backup, so it is not
    /// the draft of that backup.
    let draft: String?
    let store: SQLiteStore

    func run() async throws {
        if let draft { await WorkThreads.waiting.run { await store.removeBackupDraft(draft) } }
        try await gracefulShutdown()
    }
}
