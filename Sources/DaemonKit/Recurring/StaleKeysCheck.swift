import Logging
import MerchantCore
import MerchantOperations
import PostgresStore
import Vocabulary

/// Reports when the daemon uses the keys in its memory although its lease has ended: `store.postgresql.serve-stale`.
struct StaleKeysCheck: RecurringTask {
    let lease: NodeLease
    /// Ends later than the lease.
    let cacheLease: Lease
    let clock: any WallClock
    let activeFindings: ActiveFindings
    let logger: Logger

    mutating func run() async {
        guard !lease.isValid, cacheLease.isValid else { return activeFindings.clear(.staleKeysUsed) }
        let detail =
            "the daemon cannot reach the PostgreSQL database, and uses the keys in its memory until \(clock.now.adding(cacheLease.remaining)): a key that another daemon revokes meanwhile stays in use here; check the server and the network"
        if activeFindings.severity(of: .staleKeysUsed) == nil { logger.warning("\(detail)") }
        activeFindings.set(.staleKeysUsed, .critical, detail)
    }
}
