import MerchantCore
import MerchantOperations
import SQLiteStore
import Vocabulary

/// Verifies the copy of a backup, and prepares it for its use as the daemon's database.
struct RestorePreparation {
    /// The database that a restore replaces, as a SQLite database.
    enum OldDatabase {
        case none(reason: String)
        case file(String)
        /// The database lacks its last changes, so it cannot be compared with the backup.
        case incomplete(String, reason: String)

        fileprivate var path: String? {
            switch self {
            case .none: nil
            case .file(let path), .incomplete(let path, _): path
            }
        }
    }

    struct Result {
        let verification: BackupVerificationResult
        let undone: RevertedChanges
    }

    /// How many characters of an earlier restore's summary are repeated.
    private static let longestEarlierSummary = 500
    private static let earlierRestorePrefix = "at an earlier restore: "

    let backup: BackupFile
    /// Whether a backup that failed verification is accepted.
    let acceptsFindings: Bool
    let masterKeys: MasterKeys
    let clock: any WallClock

    /// - Parameter draft: the path of the copy.
    /// - Throws: `backupFailed` if no master key opens the copy, or if the verification failed and ``acceptsFindings``
    ///   is false; other errors if the copy cannot be used.
    func run(on draft: String, replacing old: OldDatabase) async throws -> Result {
        var changes = RevertedChanges.unknown("the backup failed verification")
        let verification = try await BackupVerification(masterKeys: masterKeys, clock: clock).run(
            on: draft, backup.manifest, acceptsFindings: acceptsFindings
        ) { copy in
            let reverted = revertedChanges(from: old, to: draft)
            changes = reverted
            let description = "\(backup.path), created at \(backup.manifest.createdAt), restored at \(clock.now)"
            let undone = [reverted.areNone ? nil : reverted.summary, summaryOfEarlierRestore(old)]
                .compactMap(\.self).joined(separator: "; ")
            let missing = reverted.missingAuditRecords
            let audited = [description, missing, undone.isEmpty ? reverted.summary : undone]
                .filter { !$0.isEmpty }.joined(separator: "; ")
            try await copy.write {
                try $0.setDaemonValue(StartOperations.restoreValueName, audited)
                try $0.setDaemonValue(StartOperations.undoneByRestoreValueName, undone)
                try $0.setDaemonValue(StartOperations.missingRecordsValueName, missing)
                // The backup lacks later changes: a waiting period may seem to have passed although it has not, and a
                // session at the portal that was ended later may seem open.
                try WaitingTimesAfterRestore.restart(at: clock.now, exported: reverted.exportedKeys, in: $0)
            }
            // Also copies the write-ahead log into the database file, because only that file is put in place.
            try await copy.eraseCopiesOfDestroyedSecrets()
        }
        guard acceptsFindings || verification.findings.isEmpty else {
            throw MerchantError(
                .backupFailed,
                "\(backup.path) failed verification, so the database was not replaced: \(verification.findings.prefix(3).joined(separator: "; ")); use an older backup, or pass --accept-findings if there is none"
            )
        }
        return Result(verification: verification, undone: changes)
    }

    /// What a restore before this one undid, if `status` still reports that restore, or if no start has recorded it
    /// yet. Its summary is in the database that is now replaced, and an operator may not have read it yet. So the new
    /// summary repeats it.
    private func summaryOfEarlierRestore(_ old: OldDatabase) -> String? {
        guard let old = old.path else { return nil }
        func storedText(_ name: String) -> String { DatabaseInspection.daemonValue(name, in: old) ?? "" }
        let since = Timestamp(rfc3339: storedText(StartOperations.olderDatabaseAcceptedValueName))
        guard
            !storedText(StartOperations.restoreValueName).isEmpty
                || since.map({ clock.now < $0.adding(StartRecord.noticePeriod) }) == true
        else { return nil }
        let undone = storedText(StartOperations.undoneByRestoreValueName)
        guard !undone.isEmpty else { return nil }
        let first = undone.hasPrefix(Self.earlierRestorePrefix) ? "" : Self.earlierRestorePrefix
        return first + undone.prefix(Self.longestEarlierSummary)
    }

    private func revertedChanges(from old: OldDatabase, to draft: String) -> RevertedChanges {
        switch old {
        case .none(let reason), .incomplete(_, let reason): return .unknown(reason)
        case .file(let path):
            do { return .known(try DatabaseDifference(from: path, to: draft)) } catch {
                return .unknown("the old database cannot be read (\(Diagnosis.detail(of: error)))")
            }
        }
    }
}
