import Logging

/// A problem that a start, `config check` or `diagnose` finds in the state directory or the PostgreSQL database: its
/// code, what is wrong, why, and what to do.
package struct StartFinding: Equatable, Sendable {
    /// The kinds of findings, as `docs/storage-failures.md` explains them. *Log* is the database's write-ahead log;
    /// *claims* are the records of used payment tokens, in a database file of their own.
    package enum Code: String, CaseIterable, Sendable {
        case restoreUnfinished
        case databaseMissing
        /// The path of the database names another file than the last daemon had open.
        case databaseReplaced
        case logMissing
        /// The log is empty, and the database lacks the last audit record.
        case logEmptied
        /// A log exists although the last daemon left none.
        case logFromEarlierTime
        case logOfAnotherDatabase
        /// The database file is an older copy of the file for which SQLite wrote the log.
        case databaseOlderThanLog
        /// The database lacks the audit record of the last head in `audit.head.file`.
        case databaseOlderThanShippedHead
        /// The database lacks the last audit record that the lock file names.
        case databaseOlderThanHeadInLockFile = "databaseOlderThanLockFile"
        /// The operator accepted a loss of changes at an earlier start. That start stopped before it recorded the loss
        /// in the audit.
        case acceptedLossNotInAudit = "lossNotRecorded"
        case masterKeyMissing
        /// The master key does not open the database.
        case masterKeyRejected
        /// The master key file exists, but the database does not, or on PostgreSQL is empty.
        case masterKeyWithoutDatabase
        /// `audit.head.file` contains no head to compare the database with.
        case noShippedHead
        /// The setting `environment` differs from that of the last start with this database.
        case environmentChanged
        case claimsMissing
        /// The write-ahead log of the claims file is missing, although the last daemon left one.
        case claimsLogMissing
        /// The claims file lacks the newest claim that the lock file names.
        case claimsOlder
        /// The PostgreSQL database lacks an audit record that this daemon has seen.
        case databaseLostTransactions
        /// Another daemon uses the same node name on the PostgreSQL database.
        case nodeNameInUse
        /// Other daemons use the PostgreSQL database with another setting `environment`.
        case environmentConflict
    }

    /// What the daemon does if its start has the finding.
    package enum Consequence: Sendable {
        /// The start is refused.
        case refusal
        /// The start is refused unless the operator passes `--accept-older-database`. With the flag, the daemon starts
        /// and records the loss in the audit.
        case refusalUnlessAccepted
        /// The daemon starts and records the loss in the audit.
        case recordedLoss
        /// The daemon starts and logs a warning.
        case warning
    }

    package let code: Code
    /// What is wrong.
    package let what: String
    /// The evidence or the reason; empty if ``what`` contains it.
    package let why: String
    /// What the operator must do.
    package let remedy: String

    package init(_ code: Code, _ what: String, why: String = "", remedy: String) {
        self.code = code
        self.what = what
        self.why = why
        self.remedy = remedy
    }

    /// What is wrong and why. The audit records this text as the reason.
    package var problem: String { why.isEmpty ? what : "\(what): \(why)" }

    package var message: String { "\(problem); \(remedy)" }
}

extension StartFinding {
    func log(_ logger: Logger) {
        logger.log(
            level: code.consequence == .warning ? .warning : .error, "\(message)",
            metadata: ["finding": "\(code.rawValue)"])
    }
}

extension StartFinding.Code {
    /// Whether claims of payment tokens may be lost, so that the tokens can be used again.
    var isLossOfClaims: Bool { [.claimsMissing, .claimsLogMissing, .claimsOlder].contains(self) }

    package var consequence: StartFinding.Consequence {
        switch self {
        case .restoreUnfinished, .logFromEarlierTime, .logOfAnotherDatabase, .databaseOlderThanLog, .masterKeyMissing,
            .masterKeyRejected, .nodeNameInUse, .environmentConflict:
            .refusal
        case .databaseMissing, .databaseReplaced, .logMissing, .logEmptied, .databaseOlderThanShippedHead,
            .databaseLostTransactions, .acceptedLossNotInAudit:
            .refusalUnlessAccepted
        case .databaseOlderThanHeadInLockFile: .recordedLoss
        case .masterKeyWithoutDatabase, .noShippedHead, .environmentChanged, .claimsMissing, .claimsLogMissing,
            .claimsOlder:
            .warning
        }
    }
}

/// The error of a refused start, with the findings that are the reasons.
package struct StartRefusal: Error, Equatable, CustomStringConvertible {
    package let findings: [StartFinding]

    package init(findings: [StartFinding]) { self.findings = findings }

    package var description: String {
        let messages = findings.map { "\($0.message) [\($0.code.rawValue)]" }.joined(separator: "; ")
        guard findings.allSatisfy({ $0.code.consequence == .refusalUnlessAccepted }) else {
            return "start refused: \(messages)"
        }
        return "start refused: \(messages); or start once with --accept-older-database: "
            + "the daemon continues with this database, without the changes that are lost"
    }
}
