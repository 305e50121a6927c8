import Logging
import MerchantCore
import MerchantOperations
import SQLiteStore

/// Checks the database file, its rows and the audit chain. Reads and writes continue meanwhile.
struct DatabaseCheck: RecurringTask {
    /// The pause between two parts of the audit. It leaves the processor to payments and changes.
    private static let pauseBetweenParts = Duration.milliseconds(20)

    let store: SQLiteStore
    let operations: AuditOperations
    let integrity: IntegrityFindings
    let conditions: ConditionLog
    let logger: Logger

    func run() async {
        await checkFile()
        await checkRows()
        await checkAudit()
    }

    private func checkFile() async {
        do {
            let found = try await store.examine()
            guard let first = found.first else { return conditions.clear(.storeDamaged) }
            logger.critical("the database is damaged", metadata: ["findings": "\(found.prefix(5))"])
            conditions.set(
                .storeDamaged, .critical,
                "\(first); the daemon writes nothing any more, and serves those keys that it can still read; restore a backup if the file is damaged"
            )
        } catch { report(error, checking: "the file") }
    }

    /// Reports rows that differ from what the daemon wrote. Reporting is enough, because each operation refuses such a
    /// row.
    private func checkRows() async {
        do {
            for found in try await store.inconsistentContent() {
                integrity.note(MerchantError(.keyDamaged, "\(found): restore a backup"))
            }
        } catch { report(error, checking: "key pairs and schema") }
    }

    private func checkAudit() async {
        do {
            var next: Int? = 1
            while let sequence = next {
                next = try await operations.verifyAudit(from: sequence).next
                try await Task.sleep(for: Self.pauseBetweenParts)
            }
        } catch { report(error, checking: "the audit chain") }
    }

    private func report(_ error: any Error, checking part: String) {
        guard !(error is CancellationError) else { return }
        logger.error("the database could not be checked", metadata: ["part": "\(part)", "error": "\(error)"])
        conditions.set(.storeDamaged, .warning, "\(part) could not be checked: \(Diagnosis.detail(of: error))")
    }
}
