import EventDelivery
import Foundation
import Logging
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import SQLiteStore
import ServiceLifecycle
import Testing
import Vocabulary

/// The real store and real deliveries to a receiver, with a clock that the test moves.
final class DeliveryFixture: Sendable {
    let clock = HandMovedClock()
    let store: SQLiteStore
    let operations: Operations
    let directory: String

    init() throws {
        directory = "/tmp/mkd-events-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let notifier = EventNotifier()
        store = try SQLiteStore.open(
            path: "\(directory)/store.sqlite", clock: clock, observers: StoreObservers(events: notifier))
        operations = Operations(
            repository: store, custodian: FakeCustodian(clock: clock), claims: MemoryClaimLedger(), clock: clock,
            environment: .sandbox, notifier: notifier)
    }

    deinit {
        try? store.close()
        try? FileManager.default.removeItem(atPath: directory)
    }

    static func merchant(_ number: Int) throws -> MerchantIdentifier {
        try #require(MerchantIdentifier("merchant.com.example.shop\(number)"))
    }

    func webhook(
        _ receiver: Receiver, host: String = "localhost", name: String = "hook", kinds: Set<Event.Kind>? = nil,
        allowsInternal: Bool = true, trusts: Bool = true
    ) throws -> Webhook {
        try Webhook(
            name: name, address: WebhookAddress("https://\(host):\(receiver.port)/events?token=hidden"),
            secretFile: receiver.path("secret"), kinds: kinds, trustRoots: trusts ? [try receiver.rootPEM] : nil,
            allowsInternalAddresses: allowsInternal)
    }

    func append(_ kind: Event.Kind = .keyPromoted, _ merchants: Int?...) async throws {
        let events = try merchants.map { number in
            Event(kind, .notice, at: clock.now, merchant: try number.map(Self.merchant), detail: "something happened")
        }
        try await store.write { transaction in for event in events { try transaction.append(event) } }
    }

    /// Delivers while `body` runs, then shuts down gracefully.
    func delivering(
        to webhooks: [Webhook], attempt: Duration = .seconds(15), concurrency: Int = 8,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await delivering(to: CurrentValue(webhooks), attempt: attempt, concurrency: concurrency, body)
    }

    /// Delivers to webhooks that the body may change.
    func delivering(
        to webhooks: CurrentValue<[Webhook]>, attempt: Duration = .seconds(15), concurrency: Int = 8,
        gracePeriod: Duration = .seconds(1),
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await operations.deliveries.setWebhooks(webhooks.value.map(\.registration))
        var limits = EventDelivery.Limits()
        limits.attemptTimeout = attempt
        limits.concurrentAttempts = concurrency
        limits.firstPauseWhileDown = .milliseconds(20)
        limits.shutdownGracePeriod = gracePeriod
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let group = ServiceGroup(
            services: [
                EventDelivery(
                    to: webhooks, deliveries: operations.deliveries, notifier: operations.notifier, limits: limits,
                    logger: quiet)
            ],
            logger: quiet)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            tasks.addTask {
                let outcome: Result<Void, any Error>
                do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
                await group.triggerGracefulShutdown()
                try outcome.get()
            }
            for try await _ in tasks {}
        }
    }

    var state: WebhookState? { get throws { try store.readNow { try $0.webhooks() }.first } }

    /// Moves the clock, and wakes the dispatchers.
    func advance(by duration: Duration) {
        clock.advance(by: duration)
        operations.notifier.eventsChanged()
    }

    /// Waits until a condition holds that other processes and tasks must fulfil. `step` moves the clock after each
    /// check, so that failed attempts are repeated.
    func until(
        _ what: String, step: Duration? = nil, _ condition: () async throws -> Bool
    ) async throws {
        for _ in 0..<1_000 {
            if try await condition() { return }
            try await Task.sleep(for: .milliseconds(10))
            if let step { advance(by: step) }
        }
        Issue.record("\(what) did not happen; the webhook's state is \(String(describing: try state))")
    }
}
