package import Logging
package import MerchantCore
package import MerchantOperations
import ServiceLifecycle

/// Sends stored events as signed HTTPS requests to the webhooks that the settings define.
///
/// A webhook can get an event more than once. An event whose delivery fails for a day is parked. The events of one
/// merchant are sent one after another. The store records which events were delivered. A request that causes an event
/// does not wait for the delivery.
package struct EventDelivery: Service {
    package struct Limits: Sendable {
        /// How many attempts to deliver to one webhook may run concurrently.
        package var concurrentAttempts = 8
        /// The longest time from the start of connecting until the header of the response is received. The resolution
        /// of the host name, before that, has its own limit.
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

    private let webhooks: CurrentValue<[Webhook]>
    private let deliveries: WebhookDeliveries
    private let notifier: EventNotifier
    private let limits: Limits
    private let logger: Logger

    /// - Parameter webhooks: may change while the service runs. The service then stops the delivery to webhooks that
    ///   were removed or changed, and starts the delivery to webhooks that were added or changed.
    package init(
        to webhooks: CurrentValue<[Webhook]>, deliveries: WebhookDeliveries, notifier: EventNotifier,
        limits: Limits = Limits(), logger: Logger
    ) {
        self.webhooks = webhooks
        self.deliveries = deliveries
        self.notifier = notifier
        self.limits = limits
        self.logger = logger
    }

    /// Delivers events until a graceful shutdown, then gives running attempts a short time to finish.
    package func run() async throws {
        let (lists, continuation) = AsyncStream.makeStream(of: [Webhook].self, bufferingPolicy: .bufferingNewest(1))
        let watch = Task { [webhooks] in
            while !Task.isCancelled {
                let generation = webhooks.generation
                continuation.yield(webhooks.value)
                await webhooks.change(after: generation)
            }
        }
        await withTaskCancellationOrGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                var running: [String: RunningDispatcher] = [:]
                for await list in lists { update(&running, to: list, in: &group) }
                for delivery in running.values { delivery.dispatcher.stop() }
            }
        } onCancelOrGracefulShutdown: {
            continuation.finish()
        }
        watch.cancel()
        logger.debug("event delivery ended")
    }

    /// The dispatcher that was started last for a webhook.
    private struct RunningDispatcher {
        let webhook: Webhook
        let dispatcher: WebhookDispatcher
        /// Finishes when the dispatcher has ended.
        let end: AsyncStream<Void>
        /// Whether the dispatcher was stopped, because the webhook was removed or changed.
        var isStopped = false
    }

    /// - Parameter running: the dispatchers by the names of their webhooks. A stopped dispatcher stays here, because
    ///   the next dispatcher of the same name must wait until the stopped one has ended. Two dispatchers at the same
    ///   time would send events twice.
    private func update(
        _ running: inout [String: RunningDispatcher], to webhooks: [Webhook], in group: inout DiscardingTaskGroup
    ) {
        for (name, former) in running where !former.isStopped && !webhooks.contains(former.webhook) {
            former.dispatcher.stop()
            running[name]?.isStopped = true
        }
        for webhook in webhooks where running[webhook.name]?.isStopped ?? true {
            let predecessor = running[webhook.name]?.end
            let (end, continuation) = AsyncStream.makeStream(of: Void.self)
            let dispatcher = WebhookDispatcher(
                to: webhook, deliveries: deliveries, notifier: notifier, limits: limits, logger: logger)
            running[webhook.name] = RunningDispatcher(webhook: webhook, dispatcher: dispatcher, end: end)
            group.addTask {
                if let predecessor { for await _ in predecessor {} }
                await dispatcher.run()
                continuation.finish()
            }
        }
    }
}
