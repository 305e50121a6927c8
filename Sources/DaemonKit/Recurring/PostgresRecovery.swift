import Logging
import MerchantCore
import PostgresStore

/// Detects that the PostgreSQL database cannot be written, or can be written again. This needs a trial write, because
/// the health of the store shows only whether the last write succeeded.
struct PostgresRecovery: RecurringTask {
    let store: any DaemonStore
    /// If this lease has ended, the server could not be reached.
    let lease: NodeLease
    let logger: Logger

    func run() async {
        let wasReady = store.health == .ready
        guard !wasReady || !lease.isValid else { return }
        if await TrialWrite(store).run(), !wasReady { logger.notice("the database can be written again") }
    }
}
