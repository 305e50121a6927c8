import Logging
import MerchantCore
import MerchantOperations
import OutboundHTTP
import Vocabulary

/// Delivers events to one webhook.
///
/// The events of one merchant form a *lane*, and the events without a merchant form another one. Events of the same
/// lane are delivered one after another; different lanes are delivered concurrently. The store records which events
/// were delivered. This actor only remembers in which lanes an attempt is running or has failed.
actor WebhookDispatcher {
    /// If attempts fail in this many lanes without a success in between, the receiver is considered down. From then on
    /// only one attempt runs at a time, with pauses between attempts, until an attempt succeeds.
    static let failedLanesUntilDown = 8
    /// The longest pause between attempts while the receiver is down. The pause is short, because new events must wait
    /// for its end too.
    static let longestPauseWhileDown = Duration.seconds(10)
    /// The timer never runs for longer than this. So if the machine's clock is changed, the dispatcher notices within
    /// one minute which deliveries are due by the new time.
    static let longestSleep = Duration.seconds(60)

    private let name: String
    private let sender: WebhookSender
    private let deliveries: WebhookDeliveries
    private let notifier: EventNotifier
    private let limits: EventDelivery.Limits
    private let logger: Logger
    /// For each element, ``run()`` starts the attempts that are due.
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
            webhook: webhook, clients: WebhookClients(to: webhook, limits: limits), limits: limits)
        self.deliveries = deliveries
        self.notifier = notifier
        self.limits = limits
        self.logger = logger
        circuit = Circuit(
            .init(
                failuresToOpen: Self.failedLanesUntilDown,
                pause: Backoff(first: limits.firstPauseWhileDown, longest: Self.longestPauseWhileDown)))
        (wakeUps, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Ends the delivery: no further attempts start, and ``run()`` returns within the grace period.
    nonisolated func stop() { wakeUp.finish() }

    /// Delivers events until ``stop()`` is called.
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
        await sender.clients.close()
    }

    /// Starts the attempts that are due, as many as the limits allow, and sets the timer for the next attempt.
    private func startDueAttempts(_ attempts: inout DiscardingTaskGroup) async {
        let freeSlots = (circuit.isClosed ? limits.concurrentAttempts : 1) - busyLanes.count
        // Due events are not forgotten: this method is called again when an attempt ends.
        guard freeSlots > 0 else { return }
        if let until = circuit.openUntil, until > .now { return wake(after: until - .now) }
        // A copy, because an attempt may end while the deliveries are read. The deliveries that were read may still
        // contain the event of that attempt, so its lane must count as busy. This method is called again when the
        // attempt has ended.
        let busy = busyLanes
        let pending: [PendingDelivery]
        do {
            // The limit is larger than `freeSlots`, because the filter removes the busy lanes, and because one further
            // delivery shows when the next attempt is due.
            pending = try await deliveries.nextDeliveries(to: name, limit: freeSlots + busy.count + 1)
                .filter { !busy.contains($0.lane) }
        } catch {
            logger.error("events to deliver could not be read", metadata: ["webhook": "\(name)", "error": "\(error)"])
            return wake(after: limits.pauseAfterStoreFailure)
        }
        let now = deliveries.now
        let due = pending.prefix(freeSlots).prefix { $0.due <= now }
        for delivery in due {
            // The circuit may have opened during the read. This method is called again when the attempt that opened the
            // circuit has ended.
            guard circuit.admit(at: .now) == .admitted else { return }
            busyLanes.insert(delivery.lane)
            attempts.addTask { await self.attempt(delivery) }
        }
        if let next = pending.dropFirst(due.count).first {
            // The next delivery may already be due, and only wait for a free slot. The pause of at least 10 ms prevents
            // a busy loop in this case.
            wake(after: .milliseconds(max(10, next.due.millisecondsSince1970 - now.millisecondsSince1970)))
        }
    }

    /// Makes ``run()`` check for due attempts after a pause.
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
            // If the daemon's shutdown cancelled the attempt, the receiver did not fail.
            guard !Task.isCancelled else { return }
            let failure = DeliveryFailure(error)
            // Each lane counts only once, so that one event that the receiver refuses does not stop the events of all
            // other merchants. While the receiver is considered down, each failure counts, and lengthens the pause.
            if !circuit.isClosed || failedLanes.insert(delivery.lane).inserted { circuit.failed(at: .now) }
            await recordPersistently { try await self.record(failure, of: delivery) }
        }
        busyLanes.remove(delivery.lane)
        wakeUp.yield()
    }

    private func record(_ failure: DeliveryFailure, of delivery: PendingDelivery) async throws {
        let nextAttempt = try await deliveries.failed(
            delivery, to: name, because: failure.description, retryAfter: failure.retryAfter)
        let metadata: Logger.Metadata = [
            "webhook": "\(name)", "sequence": "\(delivery.event.sequence)", "failures": "\(delivery.failures + 1)",
            "reason": "\(failure)",
        ]
        // Without a next attempt the event is parked: an admin must request its delivery.
        guard nextAttempt != nil else {
            return logger.error(
                "event parked, because its delivery failed for a day; repair the receiver, then run 'merchantkeyctl event redeliver'",
                metadata: metadata)
        }
        // Only an event's first failure is logged as a warning, because repeated warnings would fill the log.
        logger.log(level: delivery.failures == 0 ? .warning : .debug, "event not delivered", metadata: metadata)
    }

    /// Records the outcome of an attempt; tries again until the store has recorded it, or the attempt is cancelled. The
    /// lane stays busy until then, because the event would otherwise be sent again and again.
    private func recordPersistently(_ record: () async throws -> Void) async {
        while true {
            do { return try await record() } catch {
                logger.error(
                    "an event's delivery could not be recorded", metadata: ["webhook": "\(name)", "error": "\(error)"])
            }
            guard (try? await Task.sleep(for: limits.pauseAfterStoreFailure)) != nil else { return }
        }
    }
}
