import MerchantOperations

/// Verifies the audit chain of a PostgreSQL database. The server checks its files itself, so the daemon does not.
struct PostgresAuditCheck: RecurringTask {
    let audit: AuditChainCheck

    func run() async {
        if await audit.run() { audit.activeFindings.clear(.storeDamaged) }
    }
}
