import MerchantCore
import MerchantOperations
import MerchantTestSupport
import SQLiteStore
import Synchronization
import Testing
import Vocabulary

/// A store whose writes fail as a test prescribes: before the commit, or after it, as if the daemon was killed.
private final class FailingRepository: MerchantRepository {
    struct Killed: Error {}
    enum Fault: Sendable { case beforeCommit, afterCommit }

    private let store: any MerchantRepository
    private let next = Mutex([Fault?]())

    init(_ store: any MerchantRepository) { self.store = store }

    /// Sets the faults of the next writes, the first one first; nil lets a write succeed.
    func failNext(_ faults: [Fault?]) { next.withLock { $0 = faults } }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryReading) throws -> Result
    ) async throws -> Result { try await store.read(body) }

    func readNow<Result>(_ body: (any RepositoryReading) throws -> Result) throws -> Result {
        try store.readNow(body)
    }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryWriting) throws -> Result
    ) async throws -> Result {
        let fault = next.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        if fault == .beforeCommit { throw Killed() }
        let result = try await store.write(body)
        if fault == .afterCommit { throw Killed() }
        return result
    }

    func eraseCopiesOfDestroyedSecrets() async throws { try await store.eraseCopiesOfDestroyedSecrets() }
}

/// Random notifications, failures of Apple and kills of the daemon.
private struct Interleaving: Sendable {
    /// No event fails more often than this, so that no later notification of its lane overtakes it.
    static let mostFailures = 5
    static let addresses = ["17.58.0.1", "17.58.0.2", "2001:db8::/64"]
    static let faults: [GatewayError.Kind?] = [
        nil, nil, nil, .failedAtApple, .unreachable, .responseNotReceived, .rateLimited, .circuitOpen,
        .unexpectedResponse,
    ]

    let bench: TokenBench
    let store: FailingRepository
    var daemon: TokenBench
    var random: SeededGenerator
    /// The secret of each merchant's path; nil for the platform integrator.
    let secrets: [MerchantIdentifier: String?]
    /// The acknowledged events of each lane (a merchant and an address), in the order of their first acknowledgement.
    var acknowledged: [String: [MerchantTokenEventIdentifier]] = [:]
    /// Events whose notification was not acknowledged, although it may be stored.
    var uncertain: Set<MerchantTokenEventIdentifier> = []
    var sent = 0

    init(_ kind: TokenBench.Store, seed: UInt64) async throws {
        random = SeededGenerator(seed: seed)
        let faults = Mutex(SeededGenerator(seed: seed &+ 1))
        let failures = Mutex([ScriptedMerchantTokenGateway.Call: Int]())
        let gateway = ScriptedMerchantTokenGateway { call in
            guard let kind = faults.withLock({ Self.faults.randomElement(using: &$0) ?? nil }) else { return nil }
            let count = failures.withLock { failures in
                failures[call, default: 0] += 1
                return failures[call, default: 0]
            }
            return count <= Self.mostFailures ? kind : nil
        }
        bench = try await TokenBench(kind, gateway: gateway)
        store = FailingRepository(bench.repository)
        daemon = TokenBench(store, gateway: gateway, clock: bench.clock)
        let path = try await bench.operations.merchantTokens.createNotificationPath(
            for: Bench.shop, for: bench.request)
        secrets = [Bench.integrator: nil, Bench.shop: path.secret]
    }

    mutating func step() async throws {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: await notify()
        case 4..<8: await fetch()
        case 8: bench.clock.advance(by: .milliseconds(Int64.random(in: 0...20_000, using: &random)))
        // A restart: everything in memory is lost.
        default: daemon = TokenBench(store, gateway: bench.gateway, clock: bench.clock)
        }
    }

    private mutating func notify() async {
        let merchant = Bool.random(using: &random) ? Bench.integrator : Bench.shop
        let address = Self.addresses.randomElement(using: &random) ?? ""
        // Some notifications repeat an earlier event. Like Apple's repeats, they come from the same address.
        let lane = "\(merchant) \(address)"
        let isRepeat = Int.random(in: 0..<4, using: &random) == 0
        let event: MerchantTokenEventIdentifier
        if isRepeat, let earlier = acknowledged[lane]?.randomElement(using: &random) {
            event = earlier
        } else {
            sent += 1
            event = eventName("e-\(sent)")
            let type = ["UNLINK", "UPDATED_METADATA", "RENAMED"].randomElement(using: &random) ?? ""
            bench.gateway.add(
                event, type,
                of: tokenName("\(merchant == Bench.shop ? "s" : "p")-\(Int.random(in: 0..<5, using: &random))"))
        }
        store.failNext([randomFault()])
        do {
            _ = try await daemon.notify(event.rawValue, secret: secrets[merchant] ?? nil, from: address)
            if acknowledged[lane]?.contains(event) != true { acknowledged[lane, default: []].append(event) }
        } catch { uncertain.insert(event) }
        store.failNext([])
    }

    /// Fetches up to 4 due events at once. Some of these fetches end as if the daemon was killed.
    private mutating func fetch() async {
        guard let due = try? await daemon.operations.tokenEvents.next(limit: 4) else { return }
        store.failNext(due.map { _ in randomFault() })
        await withTaskGroup { [events = daemon.operations.tokenEvents] group in
            for notification in due {
                group.addTask { _ = try? await events.fetch(notification, as: Bench.caller) }
            }
        }
        store.failNext([])
    }

    private mutating func randomFault() -> FailingRepository.Fault? {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: .beforeCommit
        case 1: .afterCommit
        default: nil
        }
    }

    /// Fetches all events that still wait.
    mutating func finish() async throws {
        var rounds = 0
        while try await bench.operations.merchantTokens.queue().waiting > 0 {
            rounds += 1
            guard rounds < 10_000 else { throw FailingRepository.Killed() }
            try await daemon.fetchDue()
            bench.clock.advance(by: .seconds(1))
        }
    }
}

@Suite("Notifications, failures and kills in random order") struct TokenEventInterleavingTests {
    @Test(
        "no acknowledged event is lost or doubled, and each lane keeps its order",
        arguments: TokenBench.Store.allCases, 1...6)
    func property(_ store: TokenBench.Store, _ seed: Int) async throws {
        var interleaving = try await Interleaving(store, seed: UInt64(seed) &* 7919)
        for _ in 0..<400 { try await interleaving.step() }
        try await interleaving.finish()

        let reported = try await interleaving.bench.events().compactMap(\.merchantToken?.eventIdentifier)
        #expect(Set(reported).count == reported.count, "an event was reported twice")
        let acknowledged = Set(interleaving.acknowledged.values.joined())
        #expect(acknowledged.count > 50)
        #expect(acknowledged.subtracting(reported) == [], "an event was lost")
        #expect(Set(reported).subtracting(acknowledged).isSubset(of: interleaving.uncertain))
        for (lane, events) in interleaving.acknowledged {
            // If the first notification of an event was not acknowledged, its position in the lane is unknown.
            let certain = events.filter { !interleaving.uncertain.contains($0) }
            #expect(reported.filter(Set(certain).contains) == certain, "\(lane)")
        }
        let audited = try await interleaving.bench.repository.read {
            try $0.auditRecords(merchant: nil, key: nil, before: nil, limit: 10_000).map(\.entry.action)
        }
        #expect(audited.count { $0 == .merchantTokenEventReceived } == reported.count)
    }
}
