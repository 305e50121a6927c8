package import Logging
package import MerchantOperations
import ServiceLifecycle

/// Delivers stored events to the webhooks of the settings: signed, at least once, and one after another for each merchant.
///
/// It reads the events from the store and records deliveries there. Nothing in the daemon waits for it.
package struct EventDelivery: Service {
    package struct Limits: Sendable {
        /// Concurrent attempts to one webhook.
        package var concurrency = 8
        /// From the start of an attempt to the head of the response.
        package var attempt = Duration.seconds(15)
        package var connect = Duration.seconds(5)
        /// Pause before an attempt to a receiver that is down; doubles up to ten seconds.
        package var probePause = Duration.seconds(1)
        /// How long running attempts may continue at shutdown.
        package var shutdownGracePeriod = Duration.seconds(3)
        /// Pause before the next access to a store that failed.
        package var storePause = Duration.seconds(5)

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

    /// Delivers until a graceful shutdown, which gives running attempts a short time to finish.
    package func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                for dispatcher in dispatchers { group.addTask { await dispatcher.run() } }
                // A service that returns ends the daemon, and the settings may have no webhook.
                group.addTask { try? await gracefulShutdown() }
            }
        } onCancelOrGracefulShutdown: {
            for dispatcher in dispatchers { dispatcher.stop() }
        }
        logger.debug("event delivery ended")
    }
}
