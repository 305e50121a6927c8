import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

@Suite struct ValidationURLAuditTests {
    private static let daemon = Caller.daemon(uid: 0, gid: 0, pid: 1)
    private let bench = SessionBench()

    /// Sends requests with different hostile URLs, which are all refused.
    private func send(_ count: Int, uid: UInt32 = 1000) async {
        let caller = Caller(uid: uid, gid: uid, pid: 42, program: "test")
        for number in 0..<count {
            let order = bench.order(validationURL: "https://attacker-\(number).example/")
            let error = await bench.requestSession(order, for: Request(caller: caller, requestId: "r-\(number)"))
            #expect(error?.code == .validationURLRefused)
        }
    }

    /// Records the refusals for which a record is due, and returns the number of new records.
    private func recordDue() async throws -> Int {
        try await bench.operations.validationURLAudit.recordRefusals(as: Self.daemon)
    }

    @Test func `a caller has at most one audit record a minute, and the records count every request`() async throws {
        await send(1_000)
        #expect(bench.repository.audit.count == 1)
        bench.clock.advance(by: .seconds(59))
        #expect(try await recordDue() == 0)
        bench.clock.advance(by: .seconds(1))
        #expect(try await recordDue() == 1)
        #expect(try await recordDue() == 0)
        let reasons = bench.repository.audit.compactMap(\.reason)
        #expect(reasons.map { $0.prefix { $0 != " " } } == ["1", "999"])
        #expect(reasons[0].contains("attacker-0.example") && reasons[1].contains("attacker-1.example"))
        #expect(bench.repository.audit.map(\.requestId) == ["r-0", "r-1"])
        // The next request after a quiet minute is recorded at once.
        bench.clock.advance(by: .seconds(60))
        await send(1)
        #expect(bench.repository.audit.count == 3)
    }

    @Test func `a second caller has a record of its own`() async {
        await send(3)
        await send(2, uid: 2000)
        #expect(bench.repository.audit.map(\.caller.name) == ["uid:1000", "uid:2000"])
    }

    @Test func `callers beyond the limit share one count, in a record of the daemon`() async throws {
        for uid in 1...70 { await send(2, uid: UInt32(uid)) }
        #expect(bench.repository.audit.count == 64)
        #expect(try await recordDue() == 1)
        let last = try #require(bench.repository.audit.last)
        #expect(last.caller == Self.daemon && last.reason?.hasPrefix("12 requests") == true)
        bench.clock.advance(by: .seconds(60))
        #expect(try await recordDue() == 64)
    }

    @Test func `when the daemon stops, it records the refusals that it has not recorded yet`() async throws {
        await send(5)
        #expect(try await bench.operations.validationURLAudit.recordRefusals(as: Self.daemon, isLast: true) == 1)
        let counts = bench.repository.audit.compactMap { $0.reason?.prefix { $0 != " " } }
        #expect(counts == ["1", "4"])
    }
}
