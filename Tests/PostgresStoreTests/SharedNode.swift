import Foundation
import MerchantCore
import MerchantTestSupport
import PostgresStore
import Synchronization
import Testing
import Vocabulary

/// A daemon's store and lease on a shared database, and a record of the changes that its caches were notified of.
final class SharedNode: Sendable {
    final class Caches: KeyChangeObserver {
        enum Call: Hashable {
            case keys(Set<PublicKeyHash>)
            case all
        }

        private let recorded = Mutex<[Call]>([])
        /// If set, `keysChanged` waits for it.
        let gate = Mutex<DispatchSemaphore?>(nil)

        var calls: [Call] { recorded.withLock { $0 } }
        func keysChanged(_ hashes: [PublicKeyHash]) {
            gate.withLock { $0 }?.wait()
            recorded.withLock { $0.append(.keys(Set(hashes))) }
        }
        func allKeysChanged() { recorded.withLock { $0.append(.all) } }
    }

    let caches = Caches()
    let cacheLease = Lease()
    let leaderLease = Lease()
    let lease: NodeLease
    let store: PostgresStore
    private let reports = Mutex<[MerchantError?]>([])
    private let ended = DispatchSemaphore(value: 0)

    /// What the lease reported: an error for a lost connection, nil for a lease that began again.
    var reported: [MerchantError?] { reports.withLock { $0 } }

    /// Begins the lease, and renews it unless `isRenewed` is false.
    init(
        _ name: String, on database: TemporaryDatabase, timing: LeaseTiming = LeaseTiming(),
        waiting: Duration = .zero, replacing predecessor: Int64? = nil, isRenewed: Bool = true,
        clock: any WallClock = SystemClock()
    ) throws {
        let opened = try database.open()
        let note = Note()
        lease = NodeLease(
            opened, node: Node(name: try #require(NodeName(name)), version: "1", replacing: predecessor),
            timing: timing,
            .init(
                cacheLease: cacheLease, leaderLease: leaderLease, observers: StoreObservers(keys: [caches]),
                report: { note.add($0) }),
            longestLoading: .milliseconds(300), clock: clock)
        store = PostgresStore(
            opened, clock: SystemClock(), observers: StoreObservers(keys: [caches]), lease: lease)
        note.reports.withLock { $0 = { [weak self] error in self?.reports.withLock { $0.append(error) } } }
        try lease.begin(waiting: waiting)
        guard isRenewed else {
            ended.signal()
            return
        }
        Thread.detachNewThread { [lease, ended] in
            try? lease.run { _ in true }
            ended.signal()
        }
    }

    /// Ends the lease and closes the store.
    func close() {
        lease.stop()
        ended.wait()
        store.close()
        lease.end()
    }

    private final class Note: Sendable {
        let reports = Mutex<(@Sendable (MerchantError?) -> Void)?>(nil)
        func add(_ error: MerchantError?) { reports.withLock { $0 }?(error) }
    }
}

/// Runs `body` on a thread of its own.
final class BlockingRun: Sendable {
    private let ended = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () -> Void) {
        Thread.detachNewThread { [ended] in
            body()
            ended.signal()
        }
    }

    func wait() { ended.wait() }
}

/// Waits until the condition is true, at most a minute.
func eventually(_ condition: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while try await !condition() {
        guard ContinuousClock.now < deadline else {
            Issue.record("the condition did not become true")
            return
        }
        try await Task.sleep(for: .milliseconds(10))
    }
}
