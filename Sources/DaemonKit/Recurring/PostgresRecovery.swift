import Logging
import MerchantCore

/// Detects that the PostgreSQL server cannot be written, or can be written again. The health of the store shows whether
/// the last write succeeded, so a write must be tried.
struct PostgresRecovery: RecurringTask {
    let store: any DaemonStore
    /// Without this lease, the connection to the server was lost.
    let memory: Lease
    let logger: Logger

    func run() async {
        let wasReady = store.health == .ready
        guard !wasReady || !memory.isValid else { return }
        if await TrialWrite(store).run(), !wasReady { logger.notice("the database can be written again") }
    }
}
