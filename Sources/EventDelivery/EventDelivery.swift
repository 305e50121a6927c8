package import Logging
package import MerchantOperations
package import NIOCore
import ServiceLifecycle

/// Delivers stored events to the webhooks of the settings: signed, in order for each merchant, at least once.
///
/// Nothing waits for it: it reads from the store what has to be sent, and notes there what was.
package struct EventDelivery: Service {
    package struct Limits: Sendable {
        /// Attempts beside each other, for each webhook.
        package var concurrency = 8
        /// From the beginning of an attempt to the answer's head.
        package var attempt = Duration.seconds(15)
        package var connect = TimeAmount.seconds(5)
        /// Before an attempt at a receiver that is down; doubles up to ten seconds.
        package var probePause = Duration.seconds(1)
        /// How long attempts may go on once the daemon stops.
        package var farewell = Duration.seconds(3)
        /// Before a store that failed is asked again.
        package var storePause = Duration.seconds(5)

        package init() {}
    }

    private let couriers: [WebhookDispatcher]
    private let logger: Logger

    package init(
        to webhooks: [Webhook], deliveries: WebhookDeliveries, notifier: EventNotifier, limits: Limits = Limits(),
        logger: Logger
    ) {
        couriers = webhooks.map {
            WebhookDispatcher(to: $0, deliveries: deliveries, notifier: notifier, limits: limits, logger: logger)
        }
        self.logger = logger
    }

    /// Delivers until a graceful shutdown, which lets attempts under way finish for a moment.
    package func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                for courier in couriers { group.addTask { await courier.run() } }
                // A service that returns ends the daemon, and there may be no webhook.
                group.addTask { try? await gracefulShutdown() }
            }
        } onCancelOrGracefulShutdown: {
            for courier in couriers { courier.stop() }
        }
        logger.debug("event delivery ended")
    }
}
