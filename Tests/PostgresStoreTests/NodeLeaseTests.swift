import Dispatch
import MerchantCore
import MerchantTestSupport
import PostgresStore
import Synchronization
import Testing
import Vocabulary

/// Several daemons share a database: without serve-stale, none uses a key pair from memory after a change of it was
/// acknowledged.
@Suite struct NodeLeaseTests {
    let database: TemporaryDatabase

    init() throws {
        database = try TemporaryDatabase()
        try database.store().close()
    }

    private static func timing(length: Duration) -> LeaseTiming {
        LeaseTiming(length: length, renewal: .milliseconds(100))
    }

    private func addKeyPair(_ store: PostgresStore) async throws {
        try await store.write { transaction in
            try transaction.insert(Sample.record(0))
            try transaction.insert(Sample.keyPair(1), Sample.new(Sample.keyPair(1)))
        }
    }

    @Test func `a change returns only after the caches of every other daemon have dropped the key pair`() async throws {
        let nodes = try (0..<3).map { try SharedNode("node\($0)", on: database) }
        defer { for node in nodes { node.close() } }
        try await addKeyPair(nodes[0].store)
        for number in 0..<20 {
            let state: KeyState = number.isMultiple(of: 2) ? .standby : .revoked
            try await nodes[number % 3].store.write { try $0.update(Sample.keyPair(1, state)) }
            for node in nodes {
                let drops = node.caches.calls.count { $0 == .keys([Sample.hash(1)]) }
                #expect(drops >= number + 1, "\(node.lease.node.name)")
            }
        }
    }

    @Test func `a change of a key waits for a daemon that is slow to drop it; other changes do not`() async throws {
        let (first, second) = (try SharedNode("a", on: database), try SharedNode("b", on: database))
        defer { for node in [first, second] { node.close() } }
        // The daemons are not notified of this key pair, because it is new and pending.
        try await addKeyPair(first.store)
        let gate = DispatchSemaphore(value: 0)
        second.caches.gate.withLock { $0 = gate }
        let change = Task {
            try await first.store.write { try $0.update(Sample.keyPair(1, .revoked)) }
            return second.caches.calls.count { $0 == .keys([Sample.hash(1)]) }
        }
        try await eventually { try database.execute("SELECT state FROM key_pairs") == "revoked" }
        // A change of another kind does not wait.
        try await first.store.write { try $0.insert(Sample.record(7)) }
        second.caches.gate.withLock { $0 = nil }
        gate.signal()
        #expect(try await change.value == 1)
    }

    @Test func `a change waits until the lease of a frozen daemon has run out; later changes do not`() async throws {
        let timing = Self.timing(length: .seconds(3))
        let first = try SharedNode("a", on: database, timing: timing)
        let frozen = try SharedNode("b", on: database, timing: timing, isRenewed: false)
        defer { for node in [first, frozen] { node.close() } }
        try await addKeyPair(first.store)
        #expect(frozen.cacheLease.isValid)
        try await first.store.write { try $0.update(Sample.keyPair(1, .revoked)) }
        #expect(!frozen.cacheLease.isValid)
        // The other daemons treat a lease as valid for one second after its end in the table. After that, no change
        // waits for the frozen daemon.
        try await eventually {
            try database.execute("SELECT lease_end + interval '1 second' < now() FROM nodes WHERE name = 'b'") == "t"
        }
        let begin = ContinuousClock.now
        try await first.store.write { try $0.update(Sample.keyPair(1, .standby)) }
        #expect(ContinuousClock.now - begin < timing.length)
    }

    @Test func `a daemon that was frozen for longer than its lease empties its caches before it uses them`()
        async throws
    {
        let node = try SharedNode("a", on: database, timing: Self.timing(length: .milliseconds(300)), isRenewed: false)
        defer { node.close() }
        try await eventually { !node.cacheLease.isValid }
        #expect(node.caches.calls == [.all])
        let thread = BlockingRun { [lease = node.lease] in try? lease.run { _ in true } }
        try await eventually { node.cacheLease.isValid }
        #expect(node.caches.calls == [.all, .all])
        node.lease.stop()
        thread.wait()
        #expect(!node.cacheLease.isValid)
    }

    @Test func `without the database the lease runs out, and a new one begins with empty caches`() async throws {
        let node = try SharedNode("a", on: database, timing: Self.timing(length: .milliseconds(500)))
        defer { node.close() }
        #expect(node.cacheLease.isValid && node.caches.calls == [.all])
        try database.server.execute("ALTER DATABASE \(database.name) ALLOW_CONNECTIONS false", in: "postgres")
        try database.server.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '\(database.name)'",
            in: "postgres")
        try await eventually { !node.cacheLease.isValid }
        #expect(node.reported.first??.code == .storeUnavailable)
        try database.server.execute("ALTER DATABASE \(database.name) ALLOW_CONNECTIONS true", in: "postgres")
        try await eventually { node.cacheLease.isValid }
        #expect(node.caches.calls == [.all, .all])
        try await eventually { node.reported.last == .some(nil) }
    }

    @Test func `with serve-stale a daemon uses its caches after its lease, and empties them for the next lease`()
        async throws
    {
        let timing = LeaseTiming(length: .milliseconds(300), renewal: .milliseconds(100), serveStale: .seconds(3600))
        let node = try SharedNode("a", on: database, timing: timing, isRenewed: false)
        let other = try SharedNode("b", on: database)
        defer { for node in [node, other] { node.close() } }
        try await addKeyPair(other.store)
        let nodes = PostgresNodes(other.store, other.lease.node)
        try await eventually { !node.lease.isValid }
        #expect(node.cacheLease.isValid)
        try await other.store.write { try $0.update(Sample.keyPair(1, .revoked)) }
        #expect(try await nodes.staleNodes() == [node.lease.node.name])
        #expect(try await nodes.nodes().map { $0.cacheRemaining > .seconds(3000) } == [true, false])
        try node.lease.begin(waiting: .zero)
        #expect(node.caches.calls == [.all, .all])
        #expect(try await nodes.staleNodes() == [])
    }

    @Test func `a name is not free while the daemon that has it may use its caches without a lease`() async throws {
        let timing = LeaseTiming(length: .milliseconds(300), renewal: .milliseconds(100), serveStale: .seconds(3600))
        let node = try SharedNode("a", on: database, timing: timing, isRenewed: false)
        let other = try SharedNode("b", on: database)
        defer { for node in [node, other] { node.close() } }
        try await eventually {
            try database.execute("SELECT lease_end + interval '1 second' < now() FROM nodes WHERE name = 'a'") == "t"
        }
        #expect(throws: NodeLease.Failure.nameInUse) { try SharedNode("a", on: database) }
        let name = node.lease.node.name
        try await PostgresNodes(other.store, other.lease.node).remove(name, recording: Sample.entry(0))
        try SharedNode("a", on: database).close()
    }

    @Test func `the list of nodes says how long ago each node stored its uses of keys`() async throws {
        let node = try SharedNode("a", on: database)
        let nodes = PostgresNodes(node.store, node.lease.node)
        func timeSinceStored() async throws -> Duration { try #require(await nodes.nodes().first).timeSinceUsesStored }
        #expect(try await timeSinceStored() < .seconds(50))
        try await nodes.recordUsesStored(ago: .seconds(100))
        #expect(try await timeSinceStored() >= .seconds(100))
        // Uses that could not be stored stay in memory when the daemon gets a new lease.
        try node.lease.begin(waiting: .zero)
        #expect(try await timeSinceStored() >= .seconds(100))
        node.close()
        let next = try SharedNode("a", on: database)
        defer { next.close() }
        let state = try #require(try await PostgresNodes(next.store, next.lease.node).nodes().first)
        #expect(state.timeSinceUsesStored < .seconds(50))
    }

    @Test func `a daemon measures the difference between its clock and the clock of the server`() async throws {
        let node = try SharedNode("a", on: database, timing: Self.timing(length: .seconds(5)))
        let wrong = try SharedNode(
            "b", on: database, timing: Self.timing(length: .seconds(5)), clock: HandMovedClock())
        defer { for node in [node, wrong] { node.close() } }
        // The time of the clock that is moved by hand is another day.
        try await eventually { wrong.lease.clockDifferenceFromServer > .seconds(3600) }
        #expect(node.lease.clockDifferenceFromServer < .seconds(1))
    }

    @Test func `only a daemon whose lease has ended can be removed`() async throws {
        let first = try SharedNode("a", on: database)
        let frozen = try SharedNode(
            "b", on: database, timing: Self.timing(length: .milliseconds(300)), isRenewed: false)
        defer { for node in [first, frozen] { node.close() } }
        let nodes = PostgresNodes(first.store, first.lease.node)
        let entry = AuditEntry(.nodeRemoved, by: Sample.caller, at: Sample.time)
        func remove(_ name: NodeName) async -> MerchantError.Code? {
            do {
                try await nodes.remove(name, recording: entry)
                return nil
            } catch { return (error as? MerchantError)?.code }
        }
        let missing = try #require(NodeName("missing"))
        #expect(await remove(first.lease.node.name) == .nodeInUse)
        #expect(await remove(missing) == .notFound)
        try await eventually {
            try database.execute("SELECT lease_end + interval '1 second' < now() FROM nodes WHERE name = 'b'") == "t"
        }
        #expect(await remove(frozen.lease.node.name) == nil)
        #expect(try await nodes.nodes().map(\.name) == [first.lease.node.name])
        #expect(try database.execute("SELECT count(*) FROM audit WHERE action = 'nodeRemoved'") == "1")
    }

    @Test func `a second daemon with the same name is refused until the first has ended`() throws {
        let first = try SharedNode("a", on: database)
        #expect(throws: NodeLease.Failure.nameInUse) { try SharedNode("a", on: database) }
        first.close()
        try SharedNode("a", on: database).close()
    }

    @Test func `a daemon takes the name of a killed daemon after the lease of the killed one has run out`() throws {
        let killed = try SharedNode(
            "a", on: database, timing: Self.timing(length: .seconds(1)), isRenewed: false)
        let next = try SharedNode("a", on: database, waiting: .seconds(30))
        #expect(!killed.cacheLease.isValid)
        next.close()
    }

    @Test func `a daemon takes the place of its own earlier run at once, also as the leader`() throws {
        let killed = try SharedNode("a", on: database, isRenewed: false)
        let next = try SharedNode("a", on: database, replacing: killed.lease.node.run)
        #expect(next.cacheLease.isValid && next.leaderLease.isValid)
        next.close()
    }

    @Test func `a daemon whose row was removed begins a new lease with empty caches`() async throws {
        let node = try SharedNode("a", on: database, timing: Self.timing(length: .seconds(5)))
        defer { node.close() }
        try database.execute("DELETE FROM nodes")
        try await eventually { node.caches.calls == [.all, .all] }
        #expect(try database.execute("SELECT count(*) FROM nodes") == "1")
    }

    @Test func `at most one daemon is the leader, and another becomes leader after the leader's lease has ended`()
        async throws
    {
        let timing = Self.timing(length: .seconds(2))
        let nodes = try (0..<3).map { try SharedNode("node\($0)", on: database, timing: timing) }
        #expect(nodes.map(\.leaderLease.isValid) == [true, false, false])
        nodes[0].close()
        try await eventually { nodes.count { $0.leaderLease.isValid } == 1 }
        let second = try #require(nodes.first { $0.leaderLease.isValid })
        #expect(second !== nodes[0])
        // A daemon that was killed: its row stays until another one takes its place.
        let killed = try SharedNode("killed", on: database, timing: timing, isRenewed: false)
        for node in nodes where node !== nodes[0] { node.close() }
        _ = try killed.lease.begin(waiting: .zero)
        #expect(killed.leaderLease.isValid)
        let next = try SharedNode("next", on: database, timing: timing)
        #expect(!next.leaderLease.isValid)
        try await eventually { next.leaderLease.isValid }
        #expect(!killed.leaderLease.isValid)
        next.close()
        killed.store.close()
    }

    @Test func `old changes, and the rows of daemons whose leases ended over a week ago, are removed`() async throws {
        try database.execute(
            """
            INSERT INTO key_changes (public_key_hashes, changed_at)
            VALUES (zeros(32), now() - interval '2 hours'), (zeros(32), now());
            INSERT INTO nodes (name, run, version, joined_at, lease_end, cache_end, uses_stored_at, applied_change)
            SELECT name, 1, '1', 0, ended, ended, ended, 0
            FROM (VALUES ('gone', now() - interval '8 days'), ('stopped', now() - interval '1 day')) AS rows (name, ended)
            """)
        let node = try SharedNode("a", on: database, timing: Self.timing(length: .seconds(5)))
        defer { node.close() }
        try await eventually { try database.execute("SELECT count(*) FROM key_changes") == "1" }
        try await eventually {
            try database.execute("SELECT string_agg(name, ' ' ORDER BY name) FROM nodes") == "a stopped"
        }
    }

    @Test func `a daemon ends if the keys were rotated while it had no lease`() async throws {
        let node = try SharedNode("a", on: database, timing: Self.timing(length: .milliseconds(300)), isRenewed: false)
        defer { node.close() }
        try await eventually { !node.cacheLease.isValid }
        #expect(throws: NodeLease.Failure.keysRotated) { try node.lease.run { $0 < 1 } }
        #expect(!node.cacheLease.isValid && node.caches.calls == [.all])
    }

    @Test func `a daemon that had no lease gets one again only when it has loaded the newest data key`() async throws {
        let node = try SharedNode("a", on: database, timing: Self.timing(length: .milliseconds(300)), isRenewed: false)
        defer { node.close() }
        try await eventually { !node.cacheLease.isValid }
        let checks = CallCount()
        let renewal = Task.detached {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    try? node.lease.run { _ in checks.add() > 2 }
                    continuation.resume()
                }
            }
        }
        try await eventually { node.cacheLease.isValid }
        #expect(checks.value > 2)
        node.lease.stop()
        await renewal.value
    }

    @Test func `a daemon reads the keys that other daemons have published while they have a lease`() async throws {
        let (one, two) = (try SharedNode("one", on: database), try SharedNode("two", on: database))
        defer { [one, two].forEach { $0.close() } }
        let (first, second) = (PostgresNodes(one.store, one.lease.node), PostgresNodes(two.store, two.lease.node))
        let name = try #require(NodeName("two"))
        #expect(
            try await first.keysOfOthers()
                == [name: NodeKeys(masterKeys: [], loadedDataKey: 0, sealingDataKey: 0)])
        let keys = NodeKeys(
            masterKeys: [MasterKeyIdentifier(bytes: [1, 2]), MasterKeyIdentifier(bytes: [0xFF])], loadedDataKey: 3,
            sealingDataKey: 2)
        for _ in 0..<2 { try await second.publish(keys) }
        #expect(try await first.keysOfOthers() == [name: keys])
        try database.execute("UPDATE nodes SET lease_end = clock_timestamp() - interval '1 hour' WHERE name = 'two'")
        #expect(try await first.keysOfOthers().isEmpty)
    }

    @Test func `a daemon that ends leaves no lease`() throws {
        let node = try SharedNode("a", on: database)
        #expect(try database.execute("SELECT count(*) FROM nodes") == "1")
        node.close()
        #expect(try database.execute("SELECT count(*) FROM nodes") == "0")
        #expect(!node.cacheLease.isValid)
    }
}

private final class CallCount: Sendable {
    private let calls = Atomic(0)

    var value: Int { calls.load(ordering: .relaxed) }

    func add() -> Int { calls.add(1, ordering: .relaxed).newValue }
}
