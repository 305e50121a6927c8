import Logging
import MerchantCore
import MerchantOperations
import ServiceLifecycle

/// Fetches the events of merchant tokens from Apple until the daemon shuts down.
struct TokenEventFetcher: Service {
    private let dispatcher: TokenEventDispatcher

    /// - Parameters:
    ///   - arrivals: signals that a notification has arrived.
    ///   - changedKeys: the store must notify it of every change of a key pair.
    init(
        operations: TokenEventFetching, arrivals: ChangeSignal, changedKeys: ChangedKeys, caller: Caller,
        logger: Logger
    ) {
        let log = TokenEventLog(logger: logger)
        dispatcher = TokenEventDispatcher(
            fetching: operations, arrivals: arrivals, changedKeys: changedKeys, caller: caller,
            report: { log.write($0) })
    }

    func run() async throws {
        await withGracefulShutdownHandler {
            await dispatcher.run()
        } onGracefulShutdown: { [dispatcher] in
            dispatcher.stop()
        }
    }
}
