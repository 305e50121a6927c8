import Logging
import MerchantCore
import MerchantOperations
import OutboundHTTP
import Vocabulary

/// Delivers events to one webhook.
///
/// The events of one merchant form a lane. Events of the same lane are delivered one after another, different lanes
/// concurrently. The store records which events were delivered; this actor only remembers which lanes have a running
/// attempt and which have failed.
actor WebhookDispatcher {
    /// If attempts fail in this many lanes without a success in between, the receiver counts as down: from then on only
    /// one attempt runs at a time, with pauses.
    static let lanesUntilDown = 8
    /// The longest pause between attempts while the receiver is down. It is short, because new events wait for it too.
    static let longestProbePause = Duration.seconds(10)
    /// The longest sleep. If the clock is set, the due times are compared with it again within this time.
    static let longestSleep = Duration.seconds(60)

    private let name: String
    private let sender: WebhookSender
    private let deliveries: WebhookDeliveries
    private let notifier: EventNotifier
    private let limits: EventDelivery.Limits
    private let logger: Logger
    /// Each element makes ``run()`` start the attempts that are due.
    private let wakeUps: AsyncStream<Void>
    private nonisolated let wakeUp: AsyncStream<Void>.Continuation

    private var busyLanes: Set<String> = []
    /// The lanes in which an attempt has failed since the last success in any lane.
    private var failedLanes: Set<String> = []
    /// A circuit breaker, open while the receiver is down.
    private var circuit: Circuit<ContinuousClock.Instant>
    private var timer: Task<Void, Never>?

    init(
        to webhook: Webhook, deliveries: WebhookDeliveries, notifier: EventNotifier, limits: EventDelivery.Limits,
        logger: Logger
    ) {
        name = webhook.name
        sender = WebhookSender(
            webhook: webhook, connections: WebhookConnections(to: webhook, limits: limits), limits: limits)
        self.deliveries = deliveries
        self.notifier = notifier
        self.limits = limits
        self.logger = logger
        circuit = Circuit(
            .init(
                failuresToOpen: Self.lanesUntilDown,
                pause: Backoff(first: limits.probePause, longest: Self.longestProbePause)))
        (wakeUps, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Stops the start of further attempts. ``run()`` then returns within the grace period.
    nonisolated func stop() { wakeUp.finish() }

    func run() async {
        let (notifier, wakeUp) = (notifier, wakeUp)
        let listener = Task {
            var generation = notifier.generation
            while !Task.isCancelled {
                await notifier.wait(after: generation)
                generation = notifier.generation
                wakeUp.yield()
            }
        }
        await withDiscardingTaskGroup { attempts in
            wakeUp.yield()
            for await _ in wakeUps { await startDueAttempts(&attempts) }
            // The event of an attempt that does not finish in the grace period is delivered again after the next start.
            let deadline = ContinuousClock.now + limits.shutdownGracePeriod
            while !busyLanes.isEmpty, !Task.isCancelled, ContinuousClock.now < deadline {
                try? await Task.sleep(for: .milliseconds(20))
            }
            attempts.cancelAll()
        }
        listener.cancel()
        timer?.cancel()
        await sender.connections.close()
    }

    /// Starts the attempts that are due, as many as the limits allow, and sets the timer for the next one.
    private func startDueAttempts(_ attempts: inout DiscardingTaskGroup) async {
        let free = (circuit.isClosed ? limits.concurrency : 1) - busyLanes.count
        // Nothing is lost by returning: the end of an attempt leads to another call of this method.
        guard free > 0 else { return }
        if let until = circuit.openUntil, until > .now { return wake(after: until - .now) }
        // A copy: if an attempt ends during the read, the result may still contain its event. So its lane counts as
        // busy here, and the end of the attempt leads to another call of this method.
        let busy = busyLanes
        let waiting: [PendingDelivery]
        do {
            // Busy lanes are removed from the result, and one further delivery shows when the next attempt is due.
            waiting = try await deliveries.nextDeliveries(to: name, limit: free + busy.count + 1)
                .filter { !busy.contains($0.lane) }
        } catch {
            logger.error("events to deliver could not be read", metadata: ["webhook": "\(name)", "error": "\(error)"])
            return wake(after: limits.storePause)
        }
        let now = deliveries.now
        let due = waiting.prefix(free).prefix { $0.due <= now }
        for delivery in due {
            // The circuit may have opened during the read. The attempt that opened it leads to another call.
            guard circuit.admit(at: .now) == .admitted else { return }
            busyLanes.insert(delivery.lane)
            attempts.addTask { await self.attempt(delivery) }
        }
        if let next = waiting.dropFirst(due.count).first {
            wake(after: .milliseconds(max(10, next.due.millisecondsSince1970 - now.millisecondsSince1970)))
        }
    }

    private func wake(after pause: Duration) {
        timer?.cancel()
        let wakeUp = wakeUp
        timer = Task {
            guard (try? await Task.sleep(for: min(pause, Self.longestSleep))) != nil else { return }
            wakeUp.yield()
        }
    }

    private func attempt(_ delivery: PendingDelivery) async {
        do {
            try await sender.deliver(delivery.event, at: deliveries.now)
            failedLanes = []
            circuit.succeeded()
            await recordPersistently { try await self.deliveries.delivered(delivery, to: self.name) }
        } catch {
            // The daemon's shutdown cancelled the attempt, so the receiver did not fail.
            guard !Task.isCancelled else { return }
            let failure = DeliveryFailure(error)
            // Each lane counts only once, so that one event that the receiver refuses does not stop all other
            // merchants'.
            if !circuit.isClosed || failedLanes.insert(delivery.lane).inserted { circuit.failed(at: .now) }
            await recordPersistently { try await self.record(failure, of: delivery) }
        }
        busyLanes.remove(delivery.lane)
        wakeUp.yield()
    }

    private func record(_ failure: DeliveryFailure, of delivery: PendingDelivery) async throws {
        let next = try await deliveries.failed(
            delivery, to: name, because: failure.description, notBefore: failure.retryAfter)
        let metadata: Logger.Metadata = [
            "webhook": "\(name)", "sequence": "\(delivery.event.sequence)", "failures": "\(delivery.failures + 1)",
            "reason": "\(failure)",
        ]
        guard next != nil else { return logger.error("event parked after a day of failures", metadata: metadata) }
        // Only an event's first failure is logged as a warning, because repeated warnings would fill the log.
        logger.log(level: delivery.failures == 0 ? .warning : .debug, "event not delivered", metadata: metadata)
    }

    /// Repeats until the store has recorded the outcome. The lane stays busy until then, because the same event would
    /// otherwise be sent again and again.
    private func recordPersistently(_ record: () async throws -> Void) async {
        while true {
            do { return try await record() } catch {
                logger.error(
                    "an event's delivery could not be recorded", metadata: ["webhook": "\(name)", "error": "\(error)"])
            }
            guard (try? await Task.sleep(for: limits.storePause)) != nil else { return }
        }
    }
}
