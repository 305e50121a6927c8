import MerchantCore
import SQLiteStore
import Vocabulary

/// The check of what the next start would find.
extension Diagnosis {
    /// Reports what the next start would find. Uses the same observation and findings as a start.
    ///
    /// - Parameter inspection: nil if there is no database.
    mutating func checkNextStart(_ inspection: DatabaseInspection?) async {
        let observer = StartObserver(settings: settings)
        let marks = InstanceLock.marks(settings.lockPath)
        var observation: StartObservation
        do { observation = try observer.files(marks) } catch {
            return note("restore", .failure, Self.detail(of: error))
        }
        if let inspection {
            do { observation.content = try await content(inspection, observer, marks) } catch {
                note("audit head", .failure, Self.detail(of: error))
            }
        }
        let findings = observation.findings
        for finding in findings {
            note(
                finding.code.checkName, finding.code.consequence == .warning ? .warning : .failure, finding.message,
                code: finding.code.rawValue)
        }
        func isClear(_ check: String) -> Bool { !checks.contains { $0.name == check } }
        if isClear("write-ahead log") {
            note(
                "write-ahead log", .success,
                observation.hasLogContent
                    ? "present" : marks.isOpen ? "already copied into the database" : "none, and none expected")
        }
        if let content = observation.content, isClear("audit head") { noteAuditHead(content) }
    }

    private func content(
        _ inspection: DatabaseInspection, _ observer: StartObserver, _ marks: LockMarks
    ) async throws -> StartObservation.Content {
        let end = inspection.counts.auditHead
        return try await observer.content(restoredFrom: inspection.fact, auditEnd: end, marks) { head in
            guard !DatabaseInspection.contains(head, in: settings.databasePath) else { return nil }
            return head.sequence > end?.sequence ?? 0
                ? "audit record \(head.sequence) is missing: records were removed, or an older copy of the database was put back"
                : "audit record \(head.sequence) has another hash: the audit was rewritten, or this is another database"
        }
    }

    private mutating func noteAuditHead(_ content: StartObservation.Content) {
        let end = content.auditEnd?.sequence ?? 0
        switch content.shippedHead {
        case .notConfigured:
            note(
                "audit head", .warning,
                "not shipped to a file, so removed audit records and older copies of the database are hard to detect; set 'audit.head.file'"
            )
        case .none(let file): note("audit head", .warning, "\(file) holds no audit head yet")
        case .found(_, let head, let at, difference: nil):
            note(
                "audit head", .success,
                "audit record \(head.sequence) was shipped at \(at); the last record in the database is \(end)")
        case .found(_, let head, let at, difference: .some):
            note(
                "audit head", .warning,
                "audit record \(head.sequence) was shipped at \(at); the last record in the database is \(end), because it was restored from the backup \(content.restoredFrom ?? ""), which the next start accepts"
            )
        }
    }
}

extension StartFinding.Code {
    /// The name of the check under which `diagnose` reports the finding.
    fileprivate var checkName: String {
        switch self {
        case .restoreUnfinished: "restore"
        case .databaseMissing, .databaseReplaced, .lossNotRecorded: "database history"
        case .logMissing, .logEmptied, .logFromEarlierTime, .logOfAnotherDatabase, .databaseOlderThanLog:
            "write-ahead log"
        case .databaseOlderThanShippedHead, .databaseOlderThanLockFile, .noShippedHead: "audit head"
        case .masterKeyMissing, .masterKeyRejected, .masterKeyWithoutDatabase: "master key"
        case .claimsMissing, .claimsLogMissing: "claims"
        }
    }
}
