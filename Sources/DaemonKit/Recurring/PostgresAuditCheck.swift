import MerchantOperations

/// Verifies the audit chain of a PostgreSQL database. The daemon does not check the server's files.
struct PostgresAuditCheck: RecurringTask {
    let audit: AuditChainCheck

    func run() async {
        if await audit.run() { audit.activeFindings.clear(.storeDamaged) }
    }
}
