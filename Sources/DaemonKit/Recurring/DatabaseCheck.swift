import Logging
import MerchantCore
import MerchantOperations
import SQLiteStore

/// Checks the file of a SQLite database, its rows and the audit chain, while the daemon continues to read and write the
/// database.
struct DatabaseCheck: RecurringTask {
    let store: SQLiteStore
    let audit: AuditChainCheck
    let integrity: IntegrityFindings
    let activeFindings: ActiveFindings
    let logger: Logger

    func run() async {
        await checkFile()
        await checkRows()
        _ = await audit.run()
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
        } catch { audit.report(error, checking: "the database file") }
    }

    /// Reports rows that another program has changed. Operations refuse an altered key. An altered access works until
    /// an admin revokes it.
    private func checkRows() async {
        do {
            for found in try await store.inconsistentContent() {
                integrity.note(MerchantError(.keyDamaged, "\(found): restore a backup"))
            }
        } catch { audit.report(error, checking: "key pairs and schema") }
    }
}
