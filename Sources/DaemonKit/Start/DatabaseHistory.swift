import Glibc
import Logging
import MerchantCore
import MerchantOperations
import MerchantStore
import Vocabulary

/// Whether the database is the one that was here last, as new as it was then.
enum DatabaseHistory {
    /// A finding, and what is to be done about it.
    struct Loss {
        let found: String
        let remedy: String
    }

    /// What is gone from the database as far as its files and the lock tell, before anything is opened.
    ///
    /// The log of a daemon that was killed holds what it acknowledged last: without it the database is older than it was.
    static func losses(_ settings: Settings, _ marks: InstanceLock.Marks) -> [Loss] {
        var losses = marks.unrecordedLosses.map {
            Loss(found: $0, remedy: "an earlier start went on in spite of it and ended before it was on record")
        }
        let log = settings.databasePath + "-wal"
        if losses.isEmpty, marks.isOpen, access(settings.databasePath, F_OK) == 0, access(log, F_OK) != 0 {
            losses.append(
                Loss(
                    found:
                        "the last daemon here did not end in order, and the database's write-ahead log \(log) is gone: what was acknowledged last is not in the database",
                    remedy: "put the file back, or restore a backup"))
        }
        return losses
    }

    /// Holds the last head that was shipped against the database.
    ///
    /// - Returns: nil where nothing is gone.
    static func olderThanShipped(
        _ settings: Settings, _ operations: MerchantOperations, _ logger: Logger
    ) async throws -> Loss? {
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
        return Loss(
            found:
                "the database does not hold what the audit's head says that was shipped at \(last.at) to \(file): \(found.detail); its last record is \(end.map { "\($0.sequence)" } ?? "none")",
            remedy: "put the newer database back, or restore the newest backup")
    }

    /// What is said where losses were not accepted.
    static func refusal(_ losses: [Loss]) -> String {
        losses.map { "\($0.found): \($0.remedy)" }.joined(separator: "; ")
            + "; to go on with this database, knowing that changes are lost, start once with --accept-older-database"
    }
}
