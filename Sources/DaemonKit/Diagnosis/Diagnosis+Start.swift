import MerchantCore
import Vocabulary

/// The checks that predict whether the daemon could start.
extension Diagnosis {
    /// What was read from the database.
    enum Content {
        case found(StartContent)
        /// There is no database, or no daemon has used it.
        case missing
        case unreadable
    }

    /// Reports whether a start would succeed, and the problems that no earlier check has reported. Call this last.
    ///
    /// - Parameter prepared: nil if a start would refuse the settings.
    mutating func checkStart(_ prepared: PreparedStart?) async {
        let name = Self.startCheck
        guard let prepared else { return note(name, .failure, "would be refused because of the settings") }
        var findings = PreparationFindings()
        _ = await StartCheck(prepared: prepared, masterKeyChecking: .skipped).run(&findings)
        func isReported(_ text: String) -> Bool { checks.contains { $0.detailWithCode == text } }
        for warning in findings.warnings where !isReported(warning) { note(name, .warning, warning) }
        let newProblems = findings.problems.filter { !isReported($0) }
        for problem in newProblems { note(name, .failure, problem) }
        guard newProblems.isEmpty else { return }
        let hasKey = !checks.contains { $0.name == Self.masterKeyCheck && $0.outcome == .failure }
        guard findings.problems.isEmpty, hasKey else {
            return note(name, .failure, "would be refused because of the failures above")
        }
        guard findings.warnings.isEmpty, prepared.warnings.isEmpty else {
            return note(name, .warning, "would succeed as far as was checked, but see the warnings above")
        }
        note(name, .success, "would succeed")
    }

    /// Compares the files with what the last daemon recorded, and reports the findings that the next start would have.
    mutating func checkHistory(_ content: Content) async {
        var forecast: StartForecast
        do { forecast = try StartForecast(onFilesOf: settings) } catch {
            // The only error is that the marker of an unfinished restore cannot be read.
            return note("restore", .failure, Self.detail(of: error))
        }
        switch content {
        case .found(let content): await forecast.addContent(content)
        case .missing: forecast.addMissingContent()
        case .unreadable: break
        }
        if let failure = forecast.comparisonFailure { note("audit head", .failure, Self.detail(of: failure)) }
        let observation = forecast.observation
        let findings = observation.findings
        for finding in findings {
            note(
                finding.code.checkName, finding.code.consequence == .warning ? .warning : .failure, finding.message,
                code: finding.code.rawValue)
        }
        func hasNoFinding(_ check: String) -> Bool { !checks.contains { $0.name == check } }
        if hasNoFinding("write-ahead log") {
            // If an expected log is missing or empty, but no finding reports lost changes, the database already
            // contains the changes of the log.
            let logWithoutContent =
                observation.lockFile.expectsLog ? "already copied into the database" : "none, and none expected"
            note("write-ahead log", .success, observation.hasLogContent ? "present" : logWithoutContent)
        }
        // While a restore is unfinished, the database may be incomplete, and the daemon compares no audit heads.
        if let comparison = observation.auditComparison, !observation.isRestoreUnfinished, hasNoFinding("audit head") {
            noteAuditHead(comparison)
        }
    }

    /// Reports the last audit head in `audit.head.file`, if the next start would report no finding about it.
    private mutating func noteAuditHead(_ comparison: StartObservation.AuditComparison) {
        let lastRecord = comparison.headInDatabase?.sequence ?? 0
        switch comparison.shippedHead {
        case .notConfigured:
            note(
                "audit head", .warning,
                "not written to a file, so removed audit records and older copies of the database are hard to detect; set 'audit.head.file'"
            )
        case .none(let file): note("audit head", .warning, "\(file) holds no audit head yet")
        case .found(let file, let head, let at, difference: nil):
            note(
                "audit head", .success,
                "the head \(head) was written to \(file) at \(at), and the database contains this record; its last record is \(lastRecord)"
            )
        case .found(let file, let head, let at, difference: .some):
            // Without a restore, the next start would report a finding.
            note(
                "audit head", .warning,
                "the head \(head) was written to \(file) at \(at), but the database ends with record \(lastRecord), because a backup was restored: \(comparison.restoredFrom ?? ""). The next start accepts this"
            )
        }
    }
}

extension StartFinding.Code {
    /// The name of the check under which `diagnose` reports the finding.
    fileprivate var checkName: String {
        switch self {
        case .restoreUnfinished: "restore"
        case .databaseMissing, .databaseReplaced, .databaseLostTransactions, .acceptedLossNotInAudit, .nodeNameInUse:
            "database history"
        case .logMissing, .logEmptied, .logFromEarlierTime, .logOfAnotherDatabase, .databaseOlderThanLog:
            "write-ahead log"
        case .databaseOlderThanShippedHead, .databaseOlderThanHeadInLockFile, .noShippedHead: "audit head"
        case .masterKeyMissing, .masterKeyRejected, .masterKeyWithoutDatabase: "master key"
        case .environmentChanged, .environmentConflict: "environment"
        case .claimsMissing, .claimsLogMissing, .claimsOlder: "claims"
        }
    }
}
