import Dispatch
import Foundation
import GRDB
import MerchantCore
import SQLiteStore
import Synchronization
import Testing
import Vocabulary

@Suite struct TransactionTests {
    /// Each test has its own instance of the suite, and so its own store.
    let temporary: TemporaryStore

    init() throws { temporary = try TemporaryStore() }

    struct Failure: Error {}

    @Test func `a failed change stores nothing and does not affect the others of its group`() async throws {
        let store = temporary.store
        let gate = DispatchSemaphore(value: 0)
        async let first: Void = store.write { _ in gate.wait() }
        let outcomes = await withTaskGroup(of: (Int, Bool).self) { group in
            for number in 0..<40 {
                group.addTask {
                    do {
                        try await store.write { transaction throws in
                            let merchant = Sample.merchant(number)
                            try transaction.insert(Sample.record(merchant))
                            let keyPair = Sample.keyPair(number, of: merchant)
                            try transaction.insert(keyPair, Sample.new(keyPair, seed: number))
                            try transaction.append(Sample.entry(.merchantAdded, merchant: merchant))
                            if number.isMultiple(of: 3) { throw Failure() }
                        }
                        return (number, true)
                    } catch { return (number, error is Failure ? false : true) }
                }
            }
            group.addTask {
                gate.signal()
                return (-1, true)
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        try await first
        let kept = (0..<40).filter { !$0.isMultiple(of: 3) }
        #expect(outcomes.filter { $0.value && $0.key >= 0 }.keys.sorted() == kept)
        try store.readNow { reader throws in
            for number in 0..<40 {
                #expect(try (reader.merchant(Sample.merchant(number)) != nil) == kept.contains(number))
                #expect(try (reader.keyPair(Sample.hash(number)) != nil) == kept.contains(number))
            }
            #expect(try reader.auditRecords(merchant: nil, key: nil, before: nil, limit: 100).count == kept.count)
            #expect(try reader.counts(at: Sample.time).merchants == kept.count)
        }
        try checkTotals(temporary)
    }

    @Test func `changes that wait share a commit, and observers are notified of each commit once`() async throws {
        let observer = RecordingObserver()
        let temporary = try TemporaryStore(observers: { _ in StoreObservers(keys: [observer]) })
        let store = temporary.store
        try await store.write { try $0.insert(Sample.record(Sample.merchant)) }
        let gate = DispatchSemaphore(value: 0)
        let blockerStarted = DispatchSemaphore(value: 0)
        let blocker = Task {
            try await store.write { _ in
                blockerStarted.signal()
                gate.wait()
            }
        }
        await Task.detached { waitFor(blockerStarted) }.value
        final class Counter: Sendable { let value = Atomic(0) }
        let begun = Counter()
        let writes = (0..<200).map { number in
            Task {
                begun.value.add(1, ordering: .relaxed)
                try await store.write { transaction throws in
                    // A merchant may have more than 64 revoked key pairs.
                    let keyPair = Sample.keyPair(number, .revoked)
                    try transaction.insert(keyPair, Sample.new(keyPair, seed: number))
                }
            }
        }
        while begun.value.load(ordering: .relaxed) < 200 { await Task.yield() }
        gate.signal()
        try await blocker.value
        for write in writes { try await write.value }
        #expect(Set(observer.calls.joined()).count == 200)
        #expect(observer.calls.joined().count == 200)
        #expect(observer.calls.count < 20)
    }

    @Test func `observers are notified before the caller gets the result, and read the change`() async throws {
        struct SlowObserver: KeyChangeObserver {
            let path: String
            let note: @Sendable ([KeyState?]) -> Void
            func keysChanged(_ hashes: [PublicKeyHash]) {
                usleep(20_000)
                let states = hashes.map { hash in
                    try? withSeparateConnection(to: path) { db in
                        try String.fetchOne(
                            db, sql: "SELECT state FROM key_pairs WHERE public_key_hash = ?",
                            arguments: [Data(hash.bytes)]
                        ).flatMap(KeyState.init)
                    }
                }
                note(states)
            }
            func allKeysChanged() {}
        }
        let seen = Mutex<[KeyState?]>([])
        let temporary = try TemporaryStore(observers: { path in
            StoreObservers(keys: [SlowObserver(path: path) { states in seen.withLock { $0 += states } }])
        })
        _ = try await temporary.onboard(seed: 2)
        #expect(seen.withLock { $0 } == [], "a new pending key pair is not used yet")
        let promoted = Sample.keyPair(3, .standby)
        try await temporary.store.write { transaction throws in
            let pending = Sample.keyPair(3)
            try transaction.insert(pending, Sample.new(pending, seed: 3))
            try transaction.update(promoted)
        }
        #expect(seen.withLock { $0 } == [.standby], "changed in the transaction that inserted it")
        seen.withLock { $0 = [] }
        var keyPair = try await temporary.onboard(Sample.merchant, .standby)
        #expect(seen.withLock { $0 } == [.standby])
        keyPair.state = .revoked
        let revoked = keyPair
        try await temporary.store.write { try $0.update(revoked) }
        #expect(seen.withLock { $0 } == [.standby, .revoked])
        _ = try await temporary.store.write { try $0.insert(Sample.certificate(1), of: revoked.publicKeyHash) }
        try await temporary.store.write { try $0.removeSealedPrivateKey(of: revoked.publicKeyHash) }
        #expect(seen.withLock { $0 } == [.standby, .revoked, .revoked, .destroyed])
    }

    @Test func `observers are not notified of a failed change`() async throws {
        let observer = RecordingObserver()
        let temporary = try TemporaryStore(observers: { _ in StoreObservers(keys: [observer]) })
        await #expect(throws: Failure.self) {
            try await temporary.store.write { transaction throws in
                try transaction.insert(Sample.record(Sample.merchant))
                let keyPair = Sample.keyPair(1, .standby)
                try transaction.insert(keyPair, Sample.new(keyPair, seed: 1))
                throw Failure()
            }
        }
        #expect(observer.calls == [])
    }

    @Test func `a change that violates a rule is refused with the error code of the domain`() async throws {
        let store = temporary.store
        let keyPair = try await temporary.onboard(Sample.merchant, .current)
        try await store.write { try $0.insert(Sample.record(Sample.merchant(2))) }

        let merchant = await refusal { try await store.write { try $0.insert(Sample.record(Sample.merchant)) } }
        #expect(merchant?.code == .merchantExists)
        let same = await refusal { try await store.write { try $0.insert(keyPair, Sample.new(keyPair, seed: 1)) } }
        #expect(same?.code == .keyExists)
        let duplicate = Sample.keyPair(1, of: Sample.merchant(2))
        let taken = await refusal { try await store.write { try $0.insert(duplicate, Sample.new(duplicate, seed: 1)) } }
        #expect(taken?.code == .keyBelongsToAnotherMerchant)
        #expect(taken?.detail.contains(Sample.merchant.rawValue) == false)
        let second = Sample.keyPair(2, .current)
        let current = await refusal { try await store.write { try $0.insert(second, Sample.new(second, seed: 2)) } }
        #expect(current?.code == .currentKeyExists)
        #expect(current?.detail.contains(keyPair.publicKeyHash.base64) == true)
        let orphan = Sample.keyPair(3, of: Sample.merchant(3))
        let missing = await refusal { try await store.write { try $0.insert(orphan, Sample.new(orphan, seed: 3)) } }
        #expect(missing?.code == .merchantNotFound)
        let unknown = await refusal { try await store.write { try $0.update(Sample.keyPair(9)) } }
        #expect(unknown?.code == .keyNotFound)
        let removed = await refusal {
            try await store.write { transaction throws in
                guard var merchant = try transaction.merchant(Sample.merchant) else { return }
                merchant.removedAt = Sample.time
                try transaction.update(merchant)
            }
        }
        #expect(removed?.code == .merchantInUse)
        #expect(store.health == .ready)
    }

    @Test func `a certificate is stored once`() async throws {
        let keyPair = try await temporary.onboard()
        for expected in [true, false] {
            let isNew = try await temporary.store.write {
                try $0.insert(Sample.certificate(1), of: keyPair.publicKeyHash)
            }
            #expect(isNew == expected)
        }
        #expect(try temporary.store.readNow { try $0.counts(at: Sample.time).certificates } == 1)
    }

    @Test func `an idempotency key is kept for a day, and then removed by later ones`() async throws {
        let store = temporary.store
        let key = IdempotencyKey(caller: "uid:1000", operation: "POST /v1/merchants", value: "abc")
        let others = IdempotencyKey(caller: "uid:1001", operation: "POST /v1/merchants", value: "abc")
        try await store.write { transaction throws in
            #expect(try transaction.idempotentOutcome(key) == nil)
            try transaction.remember(
                key, requestDigest: [1, 2], resource: "merchant.a", at: ClockReading(Sample.time))
            #expect(try transaction.idempotentOutcome(others) == nil)
        }
        let known = try await store.write { try $0.idempotentOutcome(key) }
        #expect(known == IdempotentOutcome(requestDigest: [1, 2], resource: "merchant.a"))
        let again = await refusal {
            try await store.write {
                try $0.remember(key, requestDigest: [3], resource: "merchant.b", at: ClockReading(Sample.time))
            }
        }
        #expect(again?.code == .idempotencyKeyReused)
        try await store.write { transaction throws in
            let dayLater = Sample.time.adding(.seconds(86_400))
            try transaction.remember(others, requestDigest: [3], resource: "merchant.b", at: ClockReading(dayLater))
            #expect(try transaction.idempotentOutcome(key) != nil)
            let later = IdempotencyKey(caller: "uid:1", operation: "o", value: "v")
            try transaction.remember(
                later, requestDigest: [3], resource: "merchant.c", at: ClockReading(dayLater.adding(.milliseconds(1))))
            #expect(try transaction.idempotentOutcome(key) == nil)
            #expect(try transaction.idempotentOutcome(others) != nil)
        }
    }

    @Test func `a full disk refuses one change, and failed storage refuses all until a restart`() async throws {
        let store = temporary.store
        let full = await refusal {
            try await store.write { _ in throw DatabaseError(resultCode: .SQLITE_FULL, message: "full") }
        }
        #expect(full?.code == .storeUnavailable)
        #expect(full?.detail.contains("make room") == true)
        // A refused change does not clear the failure.
        guard case .impaired(let why, _) = store.health, why == full else {
            Issue.record("\(store.health)")
            return
        }
        _ = await refusal { try await store.write { _ in throw MerchantError(.notFound, "refused") } }
        #expect(store.health != .ready)
        try await temporary.onboard()
        #expect(store.health == .ready)

        let failed = await refusal {
            try await store.write { _ in throw DatabaseError(resultCode: .SQLITE_IOERR_FSYNC, message: "disk I/O error")
            }
        }
        #expect(failed?.code == .storeUnavailable)
        #expect(failed?.detail.contains("until the daemon starts again") == true)
        guard case .failed = store.health else {
            Issue.record("the store still accepts writes")
            return
        }
        let next = await refusal { try await store.write { try $0.setDaemonValue("a", "b") } }
        #expect(next == failed)
        #expect(throws: MerchantError.self) { try store.insert(Sample.dataKey) }
        #expect(try store.readNow { try $0.keyPair(Sample.hash(1)) } != nil)
    }

    @Test(.enabled(if: SmallFileSystem.canBeCreated, "mounting a tmpfs needs root"))
    func `on a full disk a small change that succeeds does not clear the impairment`() async throws {
        let disk = try SmallFileSystem(kilobytes: 2000)
        let store = try SQLiteStore.open(path: "\(disk.path)/m.sqlite")
        var full: MerchantError?
        for number in 0..<1000 where full == nil {
            full = await refusal {
                try await store.write {
                    try $0.setDaemonValue("\(number)", String(repeating: "x", count: 100_000))
                }
            }
        }
        #expect(full?.detail.contains("make room") == true)
        try disk.resize(kilobytes: 2040)
        for _ in 0..<3 {
            try await store.write { try $0.setDaemonValue("small", "") }
            guard case .impaired = store.health else {
                Issue.record("\(store.health)")
                return
            }
        }
        try disk.resize(kilobytes: 8000)
        try await store.write { try $0.setDaemonValue("small", "") }
        #expect(store.health == .ready)
        try store.close()
    }
}

/// Blocks the calling thread.
private func waitFor(_ semaphore: DispatchSemaphore) { semaphore.wait() }

/// Compares the stored totals, and the totals of each merchant, with the numbers of rows.
func checkTotals(_ temporary: TemporaryStore, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let (stored, counted, differingMerchants) = try temporary.withSeparateConnection { db in
        (
            try Row.fetchAll(db, sql: "SELECT name, value FROM totals ORDER BY name").map {
                "\($0["name"] as String) \($0["value"] as Int)"
            },
            try Row.fetchAll(
                db,
                sql: """
                    SELECT 'certificates' AS name, count(*) AS value FROM certificates
                    UNION ALL SELECT 'merchants', count(*) FROM merchants WHERE removed_at IS NULL
                    UNION ALL SELECT 'merchantsBelowTarget', count(*) FROM merchants
                        WHERE removed_at IS NULL AND active_key_pairs < target_active_key_pairs
                    UNION ALL SELECT 'merchantsWithKeyPair', count(*) FROM merchants WHERE newest_key_pair_id > 0
                    UNION ALL SELECT 'registrations', count(DISTINCT registration_id) FROM registration_domains
                        WHERE is_desired = 1
                    UNION ALL SELECT 'registrationsDrifting', count(*) FROM registrations WHERE drifts > 0
                    UNION ALL SELECT 'registrationCallsOpen', count(*) FROM registration_calls WHERE outcome IS NULL
                    UNION ALL SELECT 'keyPairs.' || state.value, (SELECT count(*) FROM key_pairs WHERE state = state.value)
                        FROM json_each('["pending","standby","current","retiring","revoked","destroyed"]') AS state
                    UNION ALL SELECT 'awaitingDestruction', count(*) FROM key_pairs WHERE destroy_after IS NOT NULL
                    UNION ALL SELECT 'rolls.' || step.value, (SELECT count(*) FROM rolls WHERE rolls.step = step.value)
                        FROM json_each('["started","certificateStored","promoted","finished","abandoned"]') AS step
                    UNION ALL SELECT 'tokenNotificationsWaiting', count(*) FROM token_notifications WHERE state = 'waiting'
                    ORDER BY name
                    """
            ).map { "\($0["name"] as String) \($0["value"] as Int)" },
            try Int.fetchOne(
                db,
                sql: """
                    SELECT count(*) FROM merchants WHERE active_key_pairs <> (SELECT count(*) FROM key_pairs
                        WHERE merchant_identifier = identifier AND purpose = 'paymentProcessing'
                            AND state IN ('standby', 'current', 'retiring'))
                        OR current_ends_at IS NOT (SELECT min(expires_at) FROM key_pairs
                            WHERE merchant_identifier = identifier AND purpose = 'paymentProcessing'
                                AND state = 'current')
                        OR active_key_pairs > 0 AND had_active_key_pair = 0
                        OR newest_key_pair_id <> coalesce(
                            (SELECT max(id) FROM key_pairs WHERE merchant_identifier = identifier), 0)
                    """)
        )
    }
    #expect(stored == counted, sourceLocation: sourceLocation)
    #expect(differingMerchants == 0, sourceLocation: sourceLocation)
}
