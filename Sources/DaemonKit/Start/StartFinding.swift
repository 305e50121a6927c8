import Logging

/// A problem that prevents a start, or that the operator must know after it: a code and a message in three parts.
package struct StartFinding: Equatable, Sendable {
    /// The kinds of findings. `docs/storage-failures.md` explains each.
    package enum Code: String, CaseIterable, Sendable {
        case restoreUnfinished
        case databaseMissing
        case databaseReplaced
        case logMissing
        case logEmptied
        case logFromEarlierTime
        case logOfAnotherDatabase
        case databaseOlderThanLog
        case databaseOlderThanShippedHead
        case databaseOlderThanLockFile
        case lossNotRecorded
        case masterKeyMissing
        case masterKeyRejected
        case masterKeyWithoutDatabase
        case noShippedHead
        case claimsMissing
        case claimsLogMissing
    }

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
    /// What was found and expected; empty if ``what`` contains it.
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
    package var fact: String { why.isEmpty ? what : "\(what): \(why)" }

    package var message: String { "\(fact); \(remedy)" }
}

extension StartFinding {
    func log(_ logger: Logger) {
        logger.log(
            level: code.consequence == .warning ? .warning : .error, "\(message)",
            metadata: ["finding": "\(code.rawValue)"])
    }
}

extension StartFinding.Code {
    package var consequence: StartFinding.Consequence {
        switch self {
        case .restoreUnfinished, .logFromEarlierTime, .logOfAnotherDatabase, .databaseOlderThanLog, .masterKeyMissing,
            .masterKeyRejected:
            .refusal
        case .databaseMissing, .databaseReplaced, .logMissing, .logEmptied, .databaseOlderThanShippedHead,
            .lossNotRecorded:
            .refusalUnlessAccepted
        case .databaseOlderThanLockFile: .recordedLoss
        case .masterKeyWithoutDatabase, .noShippedHead, .claimsMissing, .claimsLogMissing: .warning
        }
    }
}

/// The error that ends a start, with the findings for which the daemon refused it.
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
