import Dispatch
import MerchantCore
import MerchantTestSupport
import PostgresStore
import Synchronization
import Testing
import Vocabulary

@Suite struct TransactionTests {
    let database: TemporaryDatabase

    init() throws { database = try TemporaryDatabase() }

    struct Failure: Error {}

    @Test func `a failed change stores nothing and does not affect the others of its group`() async throws {
        let store = try database.store()
        let (blockerStarted, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let first = Task {
            try await store.write { _ in
                blockerStarted.signal()
                gate.wait()
            }
        }
        await Task.detached { blockerStarted.waitHere() }.value
        let kept = try await withThrowingTaskGroup(of: Int?.self) { group in
            for number in 0..<40 {
                group.addTask {
                    do {
                        try await store.write { transaction in
                            try transaction.insert(Sample.record(number))
                            try transaction.append(Sample.entry(number))
                            if number % 3 == 0 { throw Failure() }
                            // PostgreSQL refuses this statement.
                            if number % 5 == 0 { try Sample.insertWithUnknownDataKey(number, in: transaction) }
                        }
                        return number
                    } catch { return nil }
                }
            }
            while store.waitingWrites < 40 { try await Task.sleep(for: .milliseconds(1)) }
            gate.signal()
            return try await group.reduce(into: Set<Int>()) { if let number = $1 { $0.insert(number) } }
        }
        try await first.value
        #expect(kept == Set((0..<40).filter { $0 % 3 != 0 && $0 % 5 != 0 }))
        try store.readNow { reader throws in
            for number in 0..<40 {
                #expect(try (reader.merchant(Sample.merchant(number)) != nil) == kept.contains(number))
            }
            #expect(try reader.auditHead()?.sequence == kept.count)
            #expect(try reader.counts(at: Sample.time).merchants == kept.count)
        }
        #expect(store.health == .ready)
    }

    @Test func `a transaction that catches the error of a statement is refused, and stores nothing`() async throws {
        let store = try database.store()
        let error = await refusal {
            try await store.write { transaction in
                try transaction.insert(Sample.record(1))
                try? Sample.insertWithUnknownDataKey(1, in: transaction)
            }
        }
        #expect(error?.code == .internalError)
        #expect(try store.readNow { try $0.merchant(Sample.merchant(1)) } == nil)
    }

    @Test func `observers are notified after the commit and before the caller gets the result`() async throws {
        final class Observer: KeyChangeObserver {
            let states = Mutex<[String]>([])
            let database: TemporaryDatabase
            init(_ database: TemporaryDatabase) { self.database = database }
            func keysChanged(_ hashes: [PublicKeyHash]) {
                let state = try? database.execute("SELECT state FROM key_pairs")
                states.withLock { $0.append(state ?? "unknown") }
            }
            func allKeysChanged() {}
        }
        let observer = Observer(database)
        let store = try database.store(observers: StoreObservers(keys: [observer]))
        try await store.write { transaction in
            try transaction.insert(Sample.record(0))
            try transaction.insert(Sample.keyPair(1, .standby), Sample.new(Sample.keyPair(1)))
        }
        #expect(observer.states.withLock { $0 } == ["standby"])
        try await store.write { try $0.update(Sample.keyPair(1, .revoked)) }
        #expect(observer.states.withLock { $0 } == ["standby", "revoked"])
        await #expect(throws: Failure.self) {
            try await store.write { transaction in
                try transaction.update(Sample.keyPair(1, .pending))
                throw Failure()
            }
        }
        #expect(observer.states.withLock { $0 }.count == 2)
    }

    @Test func `all reads of a transaction see one state`() async throws {
        let store = try database.store()
        try await store.write { try $0.insert(Sample.record(1)) }
        try store.readNow { reader throws in
            #expect(try reader.merchant(Sample.merchant(1)) != nil)
            try database.execute("UPDATE merchants SET name = 'Other'")
            #expect(try reader.merchant(Sample.merchant(1))?.name == "Shop")
        }
        #expect(try store.readNow { try $0.merchant(Sample.merchant(1))?.name } == "Other")
    }

    @Test func `text that PostgreSQL cannot store is refused`() async throws {
        let store = try database.store()
        let error = await refusal { try await store.write { try $0.append(Sample.entry(1, reason: "a\u{0}b")) } }
        #expect(error?.code == .internalError)
        #expect(try store.readNow { try $0.auditHead() } == nil)
    }

    @Test func `a lost connection is replaced, and the next read and write succeed`() async throws {
        let store = try database.store()
        try await store.write { try $0.insert(Sample.record(1)) }
        _ = try await store.read { try $0.merchant(Sample.merchant(1)) }
        for number in 2..<5 {
            try database.server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database.name)'")
            #expect(try await store.read { try $0.merchant(Sample.merchant(1)) } != nil)
            try await store.write { try $0.insert(Sample.record(number)) }
        }
        #expect(try store.readNow { try $0.counts(at: Sample.time).merchants } == 4)
    }

    @Test func `a connection that is lost within a transaction is reported, and nothing is stored`() async throws {
        let store = try database.store()
        let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database.name)'"
        let write = await refusal {
            try await store.write { [database] transaction in
                try transaction.insert(Sample.record(1))
                try database.server.execute(kill)
                _ = try transaction.merchant(Sample.merchant(1))
            }
        }
        #expect(write?.code == .storeUnavailable)
        guard case .impaired = store.health else {
            Issue.record("\(store.health)")
            return
        }
        let read = await refusal {
            try await store.read { [database] reader in
                _ = try reader.merchant(Sample.merchant(1))
                try database.server.execute(kill)
                _ = try reader.merchant(Sample.merchant(1))
            }
        }
        #expect(read?.code == .storeUnavailable)
        #expect(try store.readNow { try $0.merchant(Sample.merchant(1)) } == nil)
        try await store.write { try $0.insert(Sample.record(2)) }
        #expect(store.health == .ready)
    }

    @Test func `a write that waits too long for another store's lock is refused as overloaded`() async throws {
        var limits = TemporaryDatabase.limits
        limits.lock = .milliseconds(100)
        let store = try database.store(limits)
        let other = try database.store()
        let gate = DispatchSemaphore(value: 0)
        let blockerStarted = DispatchSemaphore(value: 0)
        let blocker = Task {
            try await other.write { _ in
                blockerStarted.signal()
                gate.wait()
            }
        }
        await Task.detached { blockerStarted.waitHere() }.value
        let error = await refusal { try await store.write { try $0.insert(Sample.record(1)) } }
        #expect(error?.code == .overloaded)
        // Reads do not wait for a writer.
        #expect(try await store.read { try $0.merchant(Sample.merchant(1)) } == nil)
        gate.signal()
        try await blocker.value
        try await store.write { try $0.insert(Sample.record(1)) }
    }

    @Test func `reads beyond the number of connections wait, and are refused after the time limit`() async throws {
        var limits = TemporaryDatabase.limits
        limits.readers = 1
        limits.waiting = .milliseconds(50)
        let store = try database.store(limits)
        try store.readNow { reader throws in
            _ = try reader.merchant(Sample.merchant(1))
            let error = synchronousRefusal { _ = try store.readNow { try $0.merchant(Sample.merchant(1)) } }
            #expect(error?.code == .overloaded)
        }
        _ = try store.readNow { try $0.merchant(Sample.merchant(1)) }
    }

    @Test func `a closed store refuses reads and writes, and keeps what was committed`() async throws {
        let store = try database.store()
        try await store.write { try $0.insert(Sample.record(1)) }
        store.close()
        #expect(await refusal { try await store.write { try $0.insert(Sample.record(2)) } }?.code == .storeUnavailable)
        #expect(await refusal { _ = try await store.read { try $0.auditHead() } }?.code == .storeUnavailable)
        #expect(try database.execute("SELECT count(*) FROM merchants") == "1")
    }
}

extension DispatchSemaphore {
    /// Blocks the calling thread. Unlike `wait()`, an asynchronous function can call it.
    fileprivate func waitHere() { wait() }
}
