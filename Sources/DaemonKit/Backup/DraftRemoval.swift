import SQLiteStore
import ServiceLifecycle

/// Removes what a backup left that was being written when the last daemon was killed. Its disk may hang, which is no reason not to
/// start.
struct DraftRemoval: Service {
    /// Read before this daemon makes backups of its own.
    let draft: String?
    let store: SQLiteStore

    func run() async throws {
        if let draft { await store.removeBackupDraft(draft) }
        try await gracefulShutdown()
    }
}
