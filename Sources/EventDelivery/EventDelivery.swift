package import Logging
package import MerchantOperations
import ServiceLifecycle

/// Sends stored events as signed HTTPS requests to the webhooks that the settings define.
///
/// A webhook gets each event at least once. The events of one merchant are sent one after another. The store records
/// which events were delivered. A request that causes an event does not wait for the delivery.
package struct EventDelivery: Service {
    package struct Limits: Sendable {
        /// How many attempts to deliver to one webhook may run concurrently.
        package var concurrentAttempts = 8
        /// The longest time from the start of an attempt until the header of the response is received.
        package var attemptTimeout = Duration.seconds(15)
        /// The longest time to open a connection.
        package var connectTimeout = Duration.seconds(5)
        /// The first pause between attempts while the receiver is down. The pause doubles with each failure, up to ten
        /// seconds.
        package var firstPauseWhileDown = Duration.seconds(1)
        /// How long running attempts may continue after a shutdown has begun.
        package var shutdownGracePeriod = Duration.seconds(3)
        /// How long to wait before the next use of the store, if a read or write of the store has failed.
        package var pauseAfterStoreFailure = Duration.seconds(5)

        package init() {}
    }

    private let dispatchers: [WebhookDispatcher]
    private let logger: Logger

    package init(
        to webhooks: [Webhook], deliveries: WebhookDeliveries, notifier: EventNotifier, limits: Limits = Limits(),
        logger: Logger
    ) {
        dispatchers = webhooks.map {
            WebhookDispatcher(to: $0, deliveries: deliveries, notifier: notifier, limits: limits, logger: logger)
        }
        self.logger = logger
    }

    /// Delivers events until a graceful shutdown, then gives running attempts a short time to finish.
    package func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                for dispatcher in dispatchers { group.addTask { await dispatcher.run() } }
                // Waits for the shutdown even without a webhook, because the daemon ends when one of its services
                // returns.
                group.addTask { try? await gracefulShutdown() }
            }
        } onCancelOrGracefulShutdown: {
            for dispatcher in dispatchers { dispatcher.stop() }
        }
        logger.debug("event delivery ended")
    }
}
