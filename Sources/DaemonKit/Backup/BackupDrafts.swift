import MerchantCore
import SQLiteStore
import Vocabulary

/// Remembers in the store where this daemon writes a backup, so that its next start can remove the incomplete file if
/// the daemon is killed.
struct BackupDrafts {
    private let store: any DaemonStore
    /// The name under which the store holds the draft's path, see ``DaemonStateReading/daemonValue(_:)``.
    private let valueName: String

    /// - Parameter node: the name of this daemon among the daemons on a PostgreSQL database; nil on SQLite.
    init(_ store: any DaemonStore, node: NodeName? = nil) {
        self.store = store
        valueName = node.map { "backupDraft \($0)" } ?? "backupDraft"
    }

    /// The path of the draft that remains if the daemon was killed while it wrote a backup; nil if there is none.
    /// Blocks the calling thread.
    func leftover() -> String? {
        let draft = try? store.readNow { try $0.daemonValue(valueName) }
        // The value is empty after the backup has finished. A value without the suffix of a draft is ignored, because
        // the caller removes the file that the value names.
        return draft.flatMap { $0.hasSuffix(BackupFile.draftSuffix) ? $0 : nil }
    }

    /// Ignores an error: if the database's disk is full, a backup to another disk must still be possible.
    func remember(_ draft: String) async {
        try? await store.write { [valueName] in try $0.setDaemonValue(valueName, draft) }
    }

    func forget(_ draft: String) async {
        try? await store.write { [valueName] transaction in
            // Another backup may have started meanwhile and stored the name of its own draft.
            guard try transaction.daemonValue(valueName) == draft else { return }
            try transaction.setDaemonValue(valueName, "")
        }
    }
}
