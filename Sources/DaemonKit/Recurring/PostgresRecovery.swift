import Logging
import MerchantCore

/// Detects with a trial write that writes to the PostgreSQL server fail, or succeed again. The health of the store shows
/// only whether the last write succeeded.
struct PostgresRecovery: RecurringTask {
    let store: any DaemonStore
    /// If it has ended, the server could not be reached.
    let cacheLease: Lease
    let logger: Logger

    func run() async {
        let wasReady = store.health == .ready
        guard !wasReady || !cacheLease.isValid else { return }
        if await TrialWrite(store).run(), !wasReady { logger.notice("the database can be written again") }
    }
}
