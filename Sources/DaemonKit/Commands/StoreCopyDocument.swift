import MerchantCore
import MerchantOperations
import StoreCore
import Vocabulary

/// The steps that the operator must take after a copy.
enum StoreCopyAdvice {
    /// - Parameter settings: the path of the settings of the daemon that gets the data.
    static func steps(from: Settings, to: Settings, settings: String) -> [String] {
        // With PostgreSQL, the daemon refuses to start if its state directory contains a SQLite database.
        let mustMoveDatabase = to.store.postgresql != nil && FileStatus(of: to.databasePath) != nil
        let move =
            mustMoveDatabase
            ? [
                "move \(to.databasePath) and \(to.claimsPath), each with its '-wal' and '-shm' if there is one, to another directory"
            ] : []
        return move + [
            "start merchantkeyd with --config \(settings); it records the copy in the audit",
            "do not start a daemon with the old settings again: its data would then differ from the copy",
        ]
    }
}

extension StoreCopy.Report {
    var lines: [(name: String, value: String)] {
        [
            ("copy", findings.isEmpty ? "verified" : "VERIFICATION FAILED: no daemon can use the target"),
            ("from", source), ("to", target + (isResumed ? ", continued" : "")),
        ]
            + tables.map { table in
                let rows = table.source.rows.counted("row")
                return (table.name, table.isEqual ? "\(rows), equal" : "\(rows), NOT EQUAL (\(table.target.rows))")
            }
            + (verification.map {
                [
                    ("key pairs verified", "\($0.keyPairsVerified)"),
                    ("certificates checked", "\($0.certificatesChecked)"),
                    ("audit records checked", "\($0.auditRecordsChecked)"),
                ]
            } ?? []) + [("duration (seconds)", "\(seconds)")] + warnings.map { ("warning", $0) }
            + findings.map { ("finding", $0) }
    }
}

/// The result as JSON.
struct StoreCopyDocument: Encodable {
    struct Table: Encodable {
        let name: String
        let rows: Int
        let rowsInTarget: Int
        /// The rows that this run copied.
        let copied: Int
        /// The SHA-256 of all values of this table in the source.
        let sha256: String
        let equal: Bool
    }

    let good: Bool
    let from: String
    let to: String
    /// Whether an earlier run had copied a part of the rows.
    let resumed: Bool
    let tables: [Table]
    /// This number and the next two are absent if the tables differ.
    let keyPairsVerified: Int?
    let certificatesChecked: Int?
    let auditRecordsChecked: Int?
    let seconds: Double
    let warnings: [String]
    let findings: [String]
    /// The steps that the operator must take now.
    let next: [String]

    init(_ report: StoreCopy.Report, next: [String]) {
        good = report.findings.isEmpty
        (from, to, resumed) = (report.source, report.target, report.isResumed)
        tables = report.tables.map { table in
            Table(
                name: table.name, rows: table.source.rows, rowsInTarget: table.target.rows, copied: table.copied,
                sha256: Hex.encode(table.source.sha256), equal: table.isEqual)
        }
        keyPairsVerified = report.verification?.keyPairsVerified
        certificatesChecked = report.verification?.certificatesChecked
        auditRecordsChecked = report.verification?.auditRecordsChecked
        (seconds, warnings, findings) = (report.seconds, report.warnings, report.findings)
        self.next = next
    }
}
