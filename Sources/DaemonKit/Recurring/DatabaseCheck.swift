import Logging
import MerchantCore
import MerchantOperations
import SQLiteStore

/// Checks the database file, its rows and the audit chain, while the daemon continues to read and write the database.
struct DatabaseCheck: RecurringTask {
    /// The pause after each part of the audit, so that requests do not have to wait for the processor.
    private static let pauseBetweenParts = Duration.milliseconds(20)

    let store: SQLiteStore
    let operations: AuditOperations
    let integrity: IntegrityFindings
    let activeFindings: ActiveFindings
    let logger: Logger

    func run() async {
        await checkFile()
        await checkRows()
        await checkAudit()
    }

    private func checkFile() async {
        do {
            let found = try await store.quickCheckRefusingWritesIfDamaged()
            guard let first = found.first else { return activeFindings.clear(.storeDamaged) }
            logger.critical("the database is damaged", metadata: ["findings": "\(found.prefix(5))"])
            activeFindings.set(
                .storeDamaged, .critical,
                "\(first); the daemon refuses all changes, and answers requests only for keys that it can still read; check the disk, and restore a backup if the file is damaged"
            )
        } catch { report(error, checking: "the database file") }
    }

    /// Reports rows that another program has changed. Operations refuse an altered key; an altered access works until an
    /// admin revokes it.
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
                // Makes `status` report the first break of the chain, so the other results are not needed here.
                next = try await operations.verifyAudit(from: sequence).next
                try await Task.sleep(for: Self.pauseBetweenParts)
            }
        } catch { report(error, checking: "the audit chain") }
    }

    private func report(_ error: any Error, checking part: String) {
        guard !(error is CancellationError) else { return }
        logger.error("the database could not be checked", metadata: ["part": "\(part)", "error": "\(error)"])
        // Damage that this check or an earlier one found is more important than a check that could not be finished.
        guard activeFindings.severity(of: .storeDamaged) != .critical else { return }
        activeFindings.set(.storeDamaged, .warning, "\(part) could not be checked: \(Diagnosis.detail(of: error))")
    }
}
