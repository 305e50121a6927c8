import Logging
import MerchantCore
import MerchantOperations
import Vocabulary

/// Brings one webhook its events: each lane in order, lanes beside each other.
///
/// What is on its way stands in the store alone; here is only which lanes are being served just now.
actor WebhookDispatcher {
    /// Once so many lanes failed and none succeeded, the receiver is taken to be down: one attempt at a time, with pauses.
    static let lanesUntilDown = 8
    /// Short, because a fresh event that would be taken waits for it too.
    static let longestProbePause = Duration.seconds(10)
    /// A clock that jumps is noticed within this time.
    static let longestSleep = Duration.seconds(60)

    private let name: String
    private let messenger: WebhookSender
    private let deliveries: WebhookDeliveries
    private let notifier: EventNotifier
    private let limits: EventDelivery.Limits
    private let logger: Logger
    private let alarms: AsyncStream<Void>
    private nonisolated let alarm: AsyncStream<Void>.Continuation

    private var lanesUnderWay: Set<String> = []
    /// Lanes that failed since the last success.
    private var failedLanes: Set<String> = []
    private var probes = 0
    private var pausedUntil: ContinuousClock.Instant?
    private var timer: Task<Void, Never>?

    init(
        to webhook: Webhook, deliveries: WebhookDeliveries, notifier: EventNotifier, limits: EventDelivery.Limits,
        logger: Logger
    ) {
        name = webhook.name
        messenger = WebhookSender(webhook: webhook, routes: Routes(to: webhook, limits: limits), limits: limits)
        self.deliveries = deliveries
        self.notifier = notifier
        self.limits = limits
        self.logger = logger
        (alarms, alarm) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Begins no attempt any more; ``run()`` returns soon.
    nonisolated func stop() { alarm.finish() }

    func run() async {
        let (notifier, alarm) = (notifier, alarm)
        let listener = Task {
            var generation = notifier.generation
            while !Task.isCancelled {
                await notifier.wait(after: generation)
                generation = notifier.generation
                alarm.yield()
            }
        }
        await withDiscardingTaskGroup { attempts in
            alarm.yield()
            for await _ in alarms { await step(&attempts) }
            // What is under way may come to its end; what does not is delivered again after the next start.
            let deadline = ContinuousClock.now + limits.farewell
            while !lanesUnderWay.isEmpty, !Task.isCancelled, ContinuousClock.now < deadline {
                try? await Task.sleep(for: .milliseconds(20))
            }
            attempts.cancelAll()
        }
        listener.cancel()
        timer?.cancel()
        await messenger.routes.close()
    }

    private var isDown: Bool { failedLanes.count >= Self.lanesUntilDown }

    /// Begins what is due and has room, and sets the timer for what is due next.
    private func step(_ attempts: inout DiscardingTaskGroup) async {
        let room = isDown ? 1 - lanesUnderWay.count : limits.concurrency - lanesUnderWay.count
        // The end of an attempt rings the alarm.
        guard room > 0 else { return }
        if let pausedUntil, pausedUntil > .now { return wake(after: pausedUntil - .now) }
        // Lanes whose attempt ends while the store is asked are as they were before: their turn comes with the next alarm.
        let busy = lanesUnderWay
        let waiting: [PendingDelivery]
        do {
            waiting = try await deliveries.nextDeliveries(to: name, limit: room + busy.count + 1)
                .filter { !busy.contains($0.lane) }
        } catch {
            logger.error("events to deliver could not be read", metadata: ["webhook": "\(name)", "error": "\(error)"])
            return wake(after: limits.storePause)
        }
        let now = deliveries.now
        let due = waiting.prefix(room).prefix { $0.due <= now }
        for delivery in due {
            lanesUnderWay.insert(delivery.lane)
            attempts.addTask { await self.attempt(delivery) }
        }
        if let next = waiting.dropFirst(due.count).first {
            wake(after: .milliseconds(max(10, next.due.millisecondsSince1970 - now.millisecondsSince1970)))
        }
    }

    private func wake(after pause: Duration) {
        timer?.cancel()
        let alarm = alarm
        timer = Task {
            guard (try? await Task.sleep(for: min(pause, Self.longestSleep))) != nil else { return }
            alarm.yield()
        }
    }

    private func attempt(_ delivery: PendingDelivery) async {
        do {
            try await messenger.deliver(delivery.event, at: deliveries.now)
            failedLanes = []
            probes = 0
            pausedUntil = nil
            await keepTrying { try await self.deliveries.delivered(delivery, to: self.name) }
        } catch {
            // Cut off by our own end: no failure of the receiver's.
            guard !Task.isCancelled else { return }
            let fault = DeliveryFault(error)
            // No larger than it has to be to tell.
            if !isDown { failedLanes.insert(delivery.lane) }
            if isDown {
                pausedUntil = .now + min(limits.probePause * (1 << min(probes, 6)), Self.longestProbePause)
                probes += 1
            }
            await keepTrying { try await self.note(fault, of: delivery) }
        }
        lanesUnderWay.remove(delivery.lane)
        alarm.yield()
    }

    private func note(_ fault: DeliveryFault, of delivery: PendingDelivery) async throws {
        let next = try await deliveries.failed(delivery, to: name, because: fault.description, notBefore: fault.wait)
        let metadata: Logger.Metadata = [
            "webhook": "\(name)", "sequence": "\(delivery.event.sequence)", "failures": "\(delivery.failures + 1)",
            "reason": "\(fault)",
        ]
        guard next != nil else { return logger.error("event parked after a day of failures", metadata: metadata) }
        // The first failure is told, the others would only fill the log.
        logger.log(level: delivery.failures == 0 ? .warning : .debug, "event not delivered", metadata: metadata)
    }

    /// The lane stays under way until the store knows: otherwise the same event would go out over and over.
    private func keepTrying(_ record: () async throws -> Void) async {
        while true {
            do { return try await record() } catch {
                logger.error(
                    "an event's delivery could not be noted", metadata: ["webhook": "\(name)", "error": "\(error)"])
            }
            guard (try? await Task.sleep(for: limits.storePause)) != nil else { return }
        }
    }
}
