import MerchantCore
import MerchantTestSupport
import PostgresStore
import Synchronization
import Testing
import Vocabulary

@Suite struct CrashTests {
    /// The number of the last change, and the numbers of the changes that a store acknowledged.
    private final class Changes: Sendable {
        let last = Atomic(0)
        let acknowledged = Mutex<Set<Int>>([])
    }

    @Test(.tags(.slow), .skippedInQuickRuns)
    func `no acknowledged change is lost when the server crashes, and the store recovers by itself`() async throws {
        let server = try PostgresServer()
        let database = try TemporaryDatabase(on: server)
        var limits = TemporaryDatabase.limits
        limits.settlement = .milliseconds(500)
        let store = try database.store(limits)
        let changes = Changes()
        for round in 1...3 {
            let expected = changes.acknowledged.withLock { $0.count } + 100
            let writers = (0..<16).map { _ in
                Task { () -> MerchantError? in
                    while true {
                        let number = changes.last.add(1, ordering: .relaxed).newValue
                        let error = await refusal {
                            try await store.write { transaction in
                                try transaction.insert(Sample.record(number))
                                try transaction.append(Sample.entry(number))
                            }
                        }
                        if let error { return error }
                        changes.acknowledged.withLock { _ = $0.insert(number) }
                    }
                }
            }
            while changes.acknowledged.withLock({ $0.count }) < expected { try await Task.sleep(for: .milliseconds(5)) }
            try server.crash()
            for writer in writers { #expect(await writer.value?.code == .storeUnavailable) }
            #expect(await refusal { _ = try await store.read { try $0.auditHead() } }?.code == .storeUnavailable)
            try server.start()
            try store.readNow { reader throws in
                for number in changes.acknowledged.withLock({ $0 }) {
                    #expect(try reader.merchant(Sample.merchant(number)) != nil, "round \(round), change \(number)")
                }
                let segment = try reader.auditSegment(from: 1, limit: 100_000)
                #expect(segment.links.count == segment.highestAssigned)
                #expect(segment.links.count >= changes.acknowledged.withLock { $0.count })
                #expect(try reader.counts(at: Sample.time).merchants == segment.links.count)
            }
            try await store.write { try $0.setDaemonValue("round", "\(round)") }
            #expect(store.health == .ready)
        }
        store.close()
    }
}
