import Logging
import MerchantCore
import MerchantOperations
import ServiceLifecycle

/// Fetches the events of merchant tokens from Apple until the daemon shuts down.
struct TokenEventFetcher: Service {
    let operations: TokenEventFetching
    /// Signals that a notification has arrived.
    let arrivals: ChangeSignal
    /// Receives the changed key pairs from the store. If a merchant may now have an identity key, events that wait for
    /// this key are fetched at once.
    let changedKeys: ChangedKeys
    let caller: Caller
    let logger: Logger

    func run() async throws {
        let log = TokenEventLog(logger: logger)
        // Each run has a new dispatcher, because a dispatcher cannot run again after it was cancelled.
        let dispatcher = TokenEventDispatcher(
            fetching: operations, arrivals: arrivals, changedKeys: changedKeys, caller: caller,
            report: { log.write($0) })
        await withGracefulShutdownHandler {
            await dispatcher.run()
        } onGracefulShutdown: {
            dispatcher.stop()
        }
    }
}
