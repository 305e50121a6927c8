import Logging
import MerchantCore
import MerchantOperations
import ServiceLifecycle

/// Fetches the events of merchant tokens from Apple until the daemon shuts down.
struct TokenEventFetcher: Service {
    let operations: TokenEventFetching
    /// Signals that a notification has arrived.
    let arrivals: ChangeSignal
    /// The store notifies it of every change of a key pair.
    let changedKeys: ChangedKeys
    let caller: Caller
    let logger: Logger

    func run() async throws {
        let log = TokenEventLog(logger: logger)
        // A new one for each run, because it cannot run again after it was cancelled.
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
