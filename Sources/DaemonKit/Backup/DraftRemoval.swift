import SQLiteStore
import ServiceLifecycle

/// Removes the incomplete backup that the last daemon left when it was killed. As a service, because the disk may hang, which must
/// not block the start.
struct DraftRemoval: Service {
    /// Read before this daemon creates backups.
    let draft: String?
    let store: SQLiteStore

    func run() async throws {
        if let draft { await store.removeBackupDraft(draft) }
        try await gracefulShutdown()
    }
}
