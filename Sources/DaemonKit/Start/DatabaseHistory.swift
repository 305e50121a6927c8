import Glibc
import Logging
import MerchantCore
import MerchantOperations
import MerchantStore
import Vocabulary

/// Whether the database is the one that was here last, as new as it was then.
enum DatabaseHistory {
    /// The log of a daemon that was killed holds what it acknowledged last: without it the database is older than it was.
    ///
    /// - Returns: what is wrong, in words that say what to do; nil for nothing.
    static func missingLog(_ settings: Settings, wasLeftOpen: Bool) -> String? {
        let log = settings.databasePath + "-wal"
        guard wasLeftOpen, access(settings.databasePath, F_OK) == 0, access(log, F_OK) != 0 else { return nil }
        return
            "the last daemon here did not end in order, and the database's write-ahead log \(log) is gone: what was acknowledged last is not in the database; put the file back, or restore a backup"
    }

    /// Holds the last head that was shipped against the database.
    ///
    /// - Returns: what is wrong, in words that say what to do; nil for nothing.
    static func olderThanShipped(
        _ settings: Settings, _ operations: MerchantOperations, _ logger: Logger
    ) async throws -> String? {
        guard let file = settings.auditHead.file else { return nil }
        let end = try await operations.repository.read { try $0.auditHead() }
        guard let last = try HeadFile(path: file).last() else {
            if end != nil {
                logger.warning(
                    "no head of the audit is in the file: the database is held against nothing at this start",
                    metadata: ["file": "\(file)"])
            }
            return nil
        }
        guard let found = try await operations.difference(from: last.head) else { return nil }
        return
            "the database does not hold what the audit's head says that was shipped at \(last.at) to \(file): \(found.detail); its last record is \(end.map { "\($0.sequence)" } ?? "none"). Put the newer database back, or restore the newest backup"
    }

    static let howToAccept =
        "; to go on with this one, knowing that changes are lost, start once with --accept-older-database"
}
