import Foundation
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import SQLiteStore
import Synchronization
import Testing
import Vocabulary

/// A store that stops working at some time, as if the daemon was killed: later reads and writes fail.
private final class MortalRepository: MerchantRepository {
    struct Killed: Error {}

    private let store: SQLiteStore
    private let isDead = Atomic(false)
    /// The number of writes up to and including the first that fails.
    private let writesUntilFailure: Atomic<Int>

    init(_ store: SQLiteStore, failingAtWrite number: Int) {
        self.store = store
        writesUntilFailure = Atomic(number)
    }

    var hasDied: Bool { isDead.load(ordering: .sequentiallyConsistent) }

    private func requireAlive() throws {
        guard !hasDied else { throw Killed() }
    }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryReading) throws -> Result
    ) async throws -> Result {
        try requireAlive()
        return try await store.read(body)
    }

    func readNow<Result>(_ body: (any RepositoryReading) throws -> Result) throws -> Result {
        try requireAlive()
        return try store.readNow(body)
    }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryWriting) throws -> Result
    ) async throws -> Result {
        if writesUntilFailure.subtract(1, ordering: .sequentiallyConsistent).newValue <= 0 {
            isDead.store(true, ordering: .sequentiallyConsistent)
        }
        try requireAlive()
        return try await store.write(body)
    }

    func eraseCopiesOfDestroyedSecrets() async throws {}
}

/// Daemons that run one after another over one store. When one was killed, the next resolves the open calls, as a real
/// daemon does when it starts.
private final class Daemons: Sendable {
    private struct Generation: Sendable {
        let number: Int
        let repository: MortalRepository
        let operations: Operations
    }

    private let store: SQLiteStore
    private let clock: HandMovedClock
    private let gateway: ScriptedGateway
    private let current: Mutex<Generation>

    init(store: SQLiteStore, clock: HandMovedClock, gateway: ScriptedGateway) {
        self.store = store
        self.clock = clock
        self.gateway = gateway
        current = Mutex(Self.start(1, store, clock, gateway))
    }

    var generations: Int { current.withLock { $0.number } }

    func running() async -> Operations {
        let (operations, isNew) = current.withLock { generation in
            guard generation.repository.hasDied else { return (generation.operations, false) }
            generation = Self.start(generation.number + 1, store, clock, gateway)
            return (generation.operations, true)
        }
        if isNew { _ = try? await operations.openCalls.resolveOpenCalls(as: Bench.caller) }
        return operations
    }

    private static func start(
        _ number: Int, _ store: SQLiteStore, _ clock: HandMovedClock, _ gateway: ScriptedGateway
    ) -> Generation {
        let repository = MortalRepository(store, failingAtWrite: Int.random(in: 20...120))
        return Generation(
            number: number, repository: repository,
            operations: Operations(
                repository: repository, custodian: FakeCustodian(clock: clock), claims: MemoryClaimLedger(),
                clock: clock,
                environment: .sandbox,
                gateway: gateway))
    }
}

@Suite("Registrations with failures") struct FaultTests {
    /// The number of concurrent clients. Each has its own merchants.
    private static let workers = 8
    /// The number of rounds. The clock advances only between two rounds, so that no time passes during a call.
    private static let rounds = 25
    private static let requestsInARound = 5

    /// Returns a random fault, or nil. In 1,000 calls, each fault very probably occurs several times.
    private static func fault(_ call: ScriptedGateway.Call) -> ScriptedGateway.Fault? {
        if case .details = call {
            return Int.random(in: 0..<100) < 12
                ? [.unreachable, .resetBeforeActing, .failedBeforeActing, .rateLimited, .unauthorized].randomElement()
                : nil
        }
        return Int.random(in: 0..<100) < 45 ? ScriptedGateway.Fault.allCases.randomElement() : nil
    }

    @Test(
        "after 1,000 requests with failures of Apple and kills of the daemon, Apple's record matches the requests and their results"
    )
    func requestsWithFaults() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "faults-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let store = try SQLiteStore.open(path: directory.appending(path: "merchants.db").path)
        let clock = HandMovedClock()
        let isCalm = Mutex(false)
        let gateway = ScriptedGateway { call in isCalm.withLock { $0 } ? nil : Self.fault(call) }
        let calm = try await Bench(gateway: gateway, repository: store)

        let daemons = Daemons(store: store, clock: clock, gateway: gateway)
        var ledgers = [RegistrationLedger](repeating: RegistrationLedger(), count: Self.workers)
        for _ in 0..<Self.rounds {
            await withTaskGroup(of: (Int, RegistrationLedger).self) { group in
                for (worker, before) in ledgers.enumerated() {
                    group.addTask {
                        var ledger = before
                        for _ in 0..<Self.requestsInARound {
                            await Self.oneRequest(worker, await daemons.running(), &ledger)
                        }
                        return (worker, ledger)
                    }
                }
                for await (worker, ledger) in group { ledgers[worker] = ledger }
            }
            // Sometimes the delayed calls arrive. Before the clock passes the longest delay, all of them arrive.
            if Bool.random() { gateway.deliverLateCalls() }
            if Bool.random() {
                gateway.deliverLateCalls()
                clock.advance(by: RegistrationCalls.latestArrivalDelay)
            }
        }
        var ledger = RegistrationLedger()
        for part in ledgers { ledger.merge(part) }
        #expect(ledger.counts.values.reduce(0, +) == Self.workers * Self.rounds * Self.requestsInARound)
        for outcome in ["acknowledged", "refused", "unknown"] {
            #expect(ledger.counts[outcome, default: 0] > 30, "\(ledger.counts)")
        }
        #expect(daemons.generations > 5)

        isCalm.withLock { $0 = true }
        gateway.deliverLateCalls()
        calm.clock.advance(by: .seconds(10_000_000))
        let round = try await calm.operations.openCalls.resolveOpenCalls(as: Bench.caller)
        #expect(round.open == 0 && round.failure == nil)
        try await check(calm, ledger)
        #expect(try await store.quickCheck() == [])
        try store.close()
    }

    /// Sends a random request, and adds it to the ledger with its outcome.
    private static func oneRequest(
        _ worker: Int, _ operations: Operations, _ ledger: inout RegistrationLedger
    ) async {
        let partner = "shop-\(worker)-\(Int.random(in: 0..<5))"
        let domains = Array(Set((0..<Int.random(in: 1...3)).map { _ in "d\(Int.random(in: 0..<6)).example" }))
        let request = Request(caller: Bench.caller, requestId: "w\(worker)")
        let registers = Int.random(in: 0..<10) < 6
        var outcome = RegistrationLedger.Outcome.acknowledged
        do {
            if registers {
                _ = try await operations.registrations.register(
                    RequestedRegistration(
                        partnerInternalMerchantIdentifier: partnerName(partner), partnerMerchantName: "Shop",
                        domainNames: domainNames(domains), encryptTo: Bench.integrator, merchantUrl: nil,
                        merchantIdentifier: nil), for: request)
            } else {
                _ = try await operations.registrations.unregister(
                    partnerName(partner), domainNames: domainNames(domains), reason: "closed", dryRun: false,
                    for: request)
            }
        } catch let error as MerchantError {
            outcome = error.code == .gatewayResponseNotReceived ? .unknown : .refused
        } catch {
            outcome = .unknown
        }
        if registers {
            ledger.noteRegistration(of: domains, for: partner, outcome)
        } else {
            ledger.noteUnregistration(of: domains, for: partner, outcome)
        }
    }

    /// Compares Apple's record with the ledger, and the findings of a sync with Apple's record. Then repairs the drift.
    private func check(_ bench: Bench, _ ledger: RegistrationLedger) async throws {
        func appleRecords() -> [String: Set<String>] {
            Dictionary(
                uniqueKeysWithValues: bench.gateway.records.map { ($0.rawValue, Set($1.domains.map(\.rawValue))) })
        }
        #expect(ledger.violations(in: appleRecords()) == [])
        let report = try await bench.sync()
        #expect(report.findings.allSatisfy { $0.failure == nil } && report.next == nil)
        let registrations = try await bench.repository.read { try $0.registrations(after: nil, limit: 1000, all: true) }
        var wanted: [String: Set<String>] = [:]
        for registration in registrations {
            let partner = registration.partnerInternalMerchantIdentifier
            let names = Set(registration.desired.domainNames.map(\.rawValue))
            wanted[partner.rawValue] = names
            let atApple = appleRecords()[partner.rawValue] ?? []
            let drift = report.findings.first { $0.partnerInternalMerchantIdentifier == partner }?.drift ?? []
            let expected: Set<RegistrationDrift> =
                atApple.isEmpty && !names.isEmpty
                ? [.gone]
                : Set(
                    domainNames(names.subtracting(atApple).sorted()).map(RegistrationDrift.missingDomain)
                        + atApple.subtracting(names).map(RegistrationDrift.extraDomain))
            #expect(Set(drift) == expected, "\(partner)")
        }
        #expect(ledger.violations(in: wanted) == [], "the desired state does not match the ledger")
        let before = bench.gateway.changes.count
        #expect(try await bench.sync(repair: true).findings.allSatisfy { $0.repaired == true })
        #expect(bench.gateway.changes.count - before <= 2 * report.findings.count)
        #expect(appleRecords() == wanted.filter { !$0.value.isEmpty })
        #expect(try await bench.sync().findings.isEmpty)
    }

    @Test("the ledger detects missing, unrequested and unremoved domains")
    func ledger() {
        var ledger = RegistrationLedger()
        ledger.noteRegistration(of: ["a", "b"], for: "p", .acknowledged)
        ledger.noteUnregistration(of: ["b"], for: "p", .acknowledged)
        ledger.noteRegistration(of: ["c"], for: "p", .unknown)
        ledger.noteRegistration(of: ["d"], for: "p", .refused)
        #expect(ledger.violations(in: ["p": ["a"]]) == [])
        #expect(ledger.violations(in: ["p": ["a", "c"]]) == [])
        for wrong in [[], ["a", "b"], ["a", "d"], ["a", "e"]] {
            #expect(ledger.violations(in: ["p": Set(wrong)]).count == 1, "\(wrong)")
        }
        #expect(ledger.violations(in: ["p": ["a"], "q": ["a"]]).count == 1)
    }
}
