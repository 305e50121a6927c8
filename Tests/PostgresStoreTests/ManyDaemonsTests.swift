import Dispatch
import MerchantCore
import MerchantTestSupport
import PostgresStore
import Testing
import Vocabulary

/// Several daemons on one database: each has a store of its own.
@Suite struct ManyDaemonsTests {
    let database: TemporaryDatabase

    init() throws { database = try TemporaryDatabase() }

    @Test func `the audit of several daemons is one chain without a gap`() async throws {
        let stores = try (0..<3).map { _ in try database.store() }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for number in 0..<120 {
                tasks.addTask {
                    try await stores[number % 3].write { transaction in
                        try transaction.insert(Sample.record(number))
                        try transaction.append(Sample.entry(number))
                        try transaction.append(Event(.belowTarget, .notice, at: Sample.time, detail: "\(number)"))
                    }
                }
            }
            try await tasks.waitForAll()
        }
        try stores[0].readNow { reader throws in
            let segment = try reader.auditSegment(from: 1, limit: 1000)
            #expect(segment.links.count == 120 && segment.highestAssigned == 120)
            var last = AuditRecord.genesis
            for (index, link) in segment.links.enumerated() {
                guard case .record(let record) = link else {
                    Issue.record("\(link)")
                    return
                }
                #expect(record.sequence == index + 1 && record.previousHash == last)
                #expect(record == AuditRecord(record.entry, sequence: record.sequence, after: last))
                last = record.hash
            }
            #expect(try reader.counts(at: Sample.time).merchants == 120)
        }
    }

    @Test func `a daemon that stops in the middle of a transaction does not block the others for long`() async throws {
        var limits = TemporaryDatabase.limits
        limits.idleWrite = .milliseconds(300)
        let (frozen, other) = (try database.store(limits), try database.store())
        defer { for store in [frozen, other] { store.close() } }
        let gate = DispatchSemaphore(value: 0)
        let frozenWrite = Task {
            await refusal {
                try await frozen.write { transaction in
                    try transaction.insert(Sample.record(0))
                    gate.wait()
                    try transaction.insert(Sample.record(1))
                }
            }?.code
        }
        try await eventually {
            try database.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database.name)' AND state = 'idle in transaction'"
            )
                == "1"
        }
        // Waits for the lock until the server ends the transaction of the frozen daemon.
        try await other.write { try $0.insert(Sample.record(2)) }
        gate.signal()
        #expect(await frozenWrite.value == .storeUnavailable)
        #expect(try database.execute("SELECT count(*) FROM merchants") == "1")
        try await frozen.write { try $0.insert(Sample.record(3)) }
    }

    @Test func `one of many simultaneous insertions of a key pair wins, and the others get the error of the domain`()
        async throws
    {
        let stores = try (0..<3).map { _ in try database.store() }
        try await stores[0].write { transaction in
            for number in 0..<3 { try transaction.insert(Sample.record(number)) }
        }
        let codes = try await withThrowingTaskGroup(of: MerchantError.Code?.self) { tasks in
            for number in 0..<30 {
                tasks.addTask {
                    await refusal {
                        try await stores[number % 3].write { transaction in
                            let keyPair = Sample.keyPair(number / 3, of: number % 3)
                            try transaction.insert(keyPair, Sample.new(keyPair))
                        }
                    }?.code
                }
            }
            return try await tasks.reduce(into: [MerchantError.Code?]()) { $0.append($1) }
        }
        #expect(codes.filter { $0 == nil }.count == 10)
        #expect(codes.filter { $0 == .keyBelongsToAnotherMerchant }.count == 20)
    }
}
