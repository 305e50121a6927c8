import AdminServer
import Foundation
import Glibc
import HTTPKit
import LocalSocket
import Logging
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import MetricsKit
import ServiceLifecycle
import Testing
import Vocabulary
import WireAPI

/// A real server on a real Unix socket in its own directory. It runs while a closure runs.
struct TestServer: Sendable {
    let directory: String
    let socket: String
    let clock: HandMovedClock
    let repository: MemoryRepository
    let log: CapturedLog
    let gateway: ScriptedGateway
    let operations: Operations
    let requests = RequestMetrics()

    static let openAPI = Array("openapi: 3.1.0\n".utf8)

    /// Every permit except the export of private keys, for root and the user that runs the tests.
    static var everything: CallerPolicy { .standard(ownUID: getuid()) }

    static func policy(_ permits: Set<Permit>, merchants: Set<MerchantIdentifier>? = nil) -> CallerPolicy {
        CallerPolicy(rules: [
            .init(subject: .uid(getuid()), grant: Grant(permits: permits, merchants: merchants))
        ])
    }

    /// Runs a server whose permits do not change.
    static func run(
        policy: CallerPolicy = everything, ready: Bool = true, mode: UInt32 = 0o600, overStaleSocket: Bool = false,
        socketName: String = "admin.sock", gateway: ScriptedGateway = ScriptedGateway(),
        merchantTokens: ScriptedMerchantTokenGateway = ScriptedMerchantTokenGateway(),
        portalURL: @escaping @Sendable () -> String? = { nil },
        domainChecker: any DomainChecker = FakeDomainChecker(),
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await run(
            policy: CurrentValue(policy), ready: ready, mode: mode, overStaleSocket: overStaleSocket,
            socketName: socketName, gateway: gateway, merchantTokens: merchantTokens, portalURL: portalURL,
            domainChecker: domainChecker, body)
    }

    /// - Parameter reload: the result of every reload.
    static func run(
        policy: CurrentValue<CallerPolicy>, reload: SettingsReload = SettingsReload(), ready: Bool = true,
        mode: UInt32 = 0o600, overStaleSocket: Bool = false,
        socketName: String = "admin.sock", gateway: ScriptedGateway = ScriptedGateway(),
        merchantTokens: ScriptedMerchantTokenGateway = ScriptedMerchantTokenGateway(),
        portalURL: @escaping @Sendable () -> String? = { nil },
        domainChecker: any DomainChecker = FakeDomainChecker(),
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        let directory = NSTemporaryDirectory() + "admin-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let clock = HandMovedClock()
        let notifier = EventNotifier()
        let repository = MemoryRepository(observers: StoreObservers(events: notifier))
        let operations = Operations(
            repository: repository, custodian: FakeCustodian(clock: clock), claims: MemoryClaimLedger(),
            clock: clock, environment: .sandbox, gateway: gateway, merchantTokenGateway: merchantTokens,
            domainChecker: domainChecker, webhooks: FakeWebhooks(), notifier: notifier)
        let test = TestServer(
            directory: directory, socket: "\(directory)/\(socketName)", clock: clock, repository: repository,
            log: CapturedLog(), gateway: gateway, operations: operations)
        if overStaleSocket {
            close(try UnixListener.listen(path: test.socket, mode: 0o600, backlog: 1).descriptor)
        }
        let server = AdminServer(
            socket: SocketSource(path: test.socket, mode: mode),
            operations: AdminOperations(from: operations, portalURL: portalURL, reload: { _, _ in reload }),
            policy: policy,
            health: { HealthDocument(reasons: ready ? [] : ["the clock jumped"]) },
            version: "1.2.3", startedAt: clock.now, openAPI: openAPI, requests: test.requests, logger: test.log.logger)
        let group = ServiceGroup(
            services: [server], logger: Logger(label: "services") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            tasks.addTask {
                while !test.log.lines.contains(where: { $0.contains("admin socket listening") }) {
                    try await Task.sleep(for: .milliseconds(2))
                }
                let result: Result<Void, any Error>
                do { result = .success(try await body(test)) } catch { result = .failure(error) }
                await group.triggerGracefulShutdown()
                try result.get()
            }
            for try await _ in tasks {}
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [], "something was left behind")
        }
    }

    /// Two merchants with one key pair each. They are created without the server, whose policy may not allow it.
    struct TwoMerchants: Sendable {
        // swift-format-ignore: NeverForceUnwrap
        let merchant = MerchantIdentifier("merchant.com.example.shop")!
        // swift-format-ignore: NeverForceUnwrap
        let other = MerchantIdentifier("merchant.com.example.other")!
        var key: PublicKeyHash
        var otherKey: PublicKeyHash
    }

    func addTwoMerchants() async throws -> TwoMerchants {
        let operations = Operations(
            repository: repository, custodian: FakeCustodian(clock: clock), claims: MemoryClaimLedger(),
            clock: clock, environment: .sandbox)
        let request = Request(caller: Caller(uid: 0, gid: 0, pid: 1, program: "test"), requestId: "twoMerchants")
        var added = TwoMerchants(key: PublicKeyHash(of: []), otherKey: PublicKeyHash(of: []))
        for merchant in [added.merchant, added.other] {
            _ = try await operations.merchants.addMerchant(merchant, name: nil, targetActiveKeyPairs: nil, for: request)
        }
        added.key = try await operations.keys.generateKeyPair(
            for: added.merchant, algorithm: nil, purpose: .paymentProcessing, for: request
        ).keyPair.publicKeyHash
        added.otherKey = try await operations.keys.generateKeyPair(
            for: added.other, algorithm: nil, purpose: .paymentProcessing, for: request
        ).keyPair.publicKeyHash
        return added
    }
}

/// Captures all log lines as text.
final class CapturedLog: Sendable {
    private let stored = Lines()

    private final class Lines: @unchecked Sendable {
        // Proof for @unchecked Sendable: touched only while the lock is held.
        private let lock = NSLock()
        private var lines: [String] = []
        func append(_ line: String) { lock.withLock { lines.append(line) } }
        var all: [String] { lock.withLock { lines } }
    }

    var lines: [String] { stored.all }

    var logger: Logger {
        var logger = Logger(label: "test") { [stored] _ in Handler(lines: stored) }
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let pairs = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            lines.append((["\(event.level)", event.message.description] + pairs).joined(separator: " "))
        }
    }
}
