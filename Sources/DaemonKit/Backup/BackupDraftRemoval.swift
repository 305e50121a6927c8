import MerchantOperations
import SQLiteStore
import ServiceLifecycle

/// Removes the unfinished backup file of a daemon that was killed. This is a service, so that a disk that hangs does
/// not delay the start.
struct BackupDraftRemoval: Service {
    /// The unfinished file; nil if there is none. Determined before this daemon creates its first backup, so the file
    /// is not from this daemon.
    let draft: String?
    let drafts: BackupDrafts

    func run() async throws {
        if let draft {
            await WorkThreads.blocking.run {
                BackupFile.removeDraft(draft)
                await drafts.forget(draft)
            }
        }
        // The daemon shuts down if one of its services returns earlier.
        try await gracefulShutdown()
    }
}
