import Logging
import MerchantCore
import MerchantOperations
import OutboundHTTP
import Vocabulary

/// Delivers events to one webhook: one after another within a lane (one merchant's events), lanes concurrently.
///
/// The store alone knows what was delivered. This actor knows only which lanes have a running attempt.
actor WebhookDispatcher {
    /// After failures in this many lanes and no success, the receiver counts as down: one attempt at a time, with pauses.
    static let lanesUntilDown = 8
    /// Short, because new events wait for it too.
    static let longestProbePause = Duration.seconds(10)
    /// A clock that jumps is noticed within this time.
    static let longestSleep = Duration.seconds(60)

    private let name: String
    private let sender: WebhookSender
    private let deliveries: WebhookDeliveries
    private let notifier: EventNotifier
    private let limits: EventDelivery.Limits
    private let logger: Logger
    private let wakeUps: AsyncStream<Void>
    private nonisolated let wakeUp: AsyncStream<Void>.Continuation

    private var busyLanes: Set<String> = []
    /// Lanes that failed since the last success.
    private var failedLanes: Set<String> = []
    /// Open while the receiver is down.
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

    /// Starts no further attempt; ``run()`` returns within the grace period.
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
            // What does not finish in the grace period is delivered again after the next start.
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

    /// Starts the attempts that are due, as far as the limits allow, and sets the timer for the next one.
    private func startDueAttempts(_ attempts: inout DiscardingTaskGroup) async {
        let free = (circuit.isClosed ? limits.concurrency : 1) - busyLanes.count
        // The end of an attempt wakes this method again.
        guard free > 0 else { return }
        if let until = circuit.openUntil, until > .now { return wake(after: until - .now) }
        // A lane whose attempt ends while the store is read still counts as busy; the end of its attempt wakes this method.
        let busy = busyLanes
        let waiting: [PendingDelivery]
        do {
            waiting = try await deliveries.nextDeliveries(to: name, limit: free + busy.count + 1)
                .filter { !busy.contains($0.lane) }
        } catch {
            logger.error("events to deliver could not be read", metadata: ["webhook": "\(name)", "error": "\(error)"])
            return wake(after: limits.storePause)
        }
        let now = deliveries.now
        let due = waiting.prefix(free).prefix { $0.due <= now }
        for delivery in due {
            // The circuit may have opened while the store was read; the attempt that opened it woke this method.
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
            // An attempt that the daemon's shutdown cancelled is no failure of the receiver.
            guard !Task.isCancelled else { return }
            let failure = DeliveryFailure(error)
            // A lane counts once, so that one merchant's event that the receiver refuses does not stop all others.
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
        // Only the first failure is a warning: repeats would fill the log.
        logger.log(level: delivery.failures == 0 ? .warning : .debug, "event not delivered", metadata: metadata)
    }

    /// Repeats until the store has the record. The lane stays busy until then: otherwise the same event would be sent over and
    /// over.
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
