import MerchantCore
import Testing
import Vocabulary

/// The contract of ``AuditReading`` and ``ChangeRecording``.
@Suite struct AuditContract {
    static func key(_ value: String) -> IdempotencyKey { IdempotencyKey(caller: "uid:1", operation: "o", value: value) }

    @Test(arguments: StoreUnderTest.allCases)
    func `records are a chain, numbered from 1 without gaps`(store: StoreUnderTest) async throws {
        let store = try store.open()
        #expect(try await store.read { try $0.auditHead() } == nil)
        for number in 1...3 { try await store.write { try $0.append(Sample.entry(.keyGenerated, key: number)) } }
        let segment = try await store.read { try $0.auditSegment(from: 1, limit: 10) }
        var examination = AuditExamination()
        for link in segment.links { examination.examine(link) }
        examination.finish(highestAssigned: segment.highestAssigned)
        #expect(segment.links.map(\.sequence) == [1, 2, 3] && examination.breaks.isEmpty)
        #expect(try await store.read { try $0.auditHead()?.sequence } == 3)
        #expect(try await store.read { try $0.auditSegment(from: 2, limit: 1).links.map(\.sequence) } == [2])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `records are filtered by merchant, key, caller and time, oldest or newest first`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        try await store.write { transaction in
            try transaction.append(Sample.entry(.merchantAdded, merchant: 1, at: 10))
            try transaction.append(Sample.entry(.keyGenerated, merchant: 1, key: 5, at: 20))
            try transaction.append(Sample.entry(.keyGenerated, merchant: 2, key: 6, at: 30))
        }
        func sequences(_ filter: AuditFilter, from: Int? = nil, oldestFirst: Bool = false) async throws -> [Int] {
            try await store.read {
                try $0.auditRecords(filter, from: from, oldestFirst: oldestFirst, limit: 9).map(\.sequence)
            }
        }
        #expect(try await sequences(AuditFilter()) == [3, 2, 1])
        #expect(try await sequences(AuditFilter(), from: 1, oldestFirst: true) == [2, 3])
        #expect(try await sequences(AuditFilter(), from: 3) == [2, 1])
        #expect(try await sequences(AuditFilter(merchant: Sample.identifier(1))) == [2, 1])
        #expect(try await sequences(AuditFilter(key: Sample.hash(6))) == [3])
        #expect(try await sequences(AuditFilter(caller: "uid:1000")).count == 3)
        #expect(try await sequences(AuditFilter(caller: "uid:1")).isEmpty)
        #expect(try await sequences(AuditFilter(since: Sample.time(20), until: Sample.time(30))) == [2])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `an Idempotency-Key has one outcome for its caller and operation`(store: StoreUnderTest) async throws {
        let store = try store.open()
        let key = IdempotencyKey(caller: "uid:1", operation: "POST /v1/merchants", value: "abc")
        let time = ClockReading(Sample.time(0))
        #expect(try await store.write { try $0.idempotentOutcome(key) } == nil)
        try await store.write { try $0.remember(key, requestDigest: [1], resource: "merchant.a", at: time) }
        #expect(
            try await store.write { try $0.idempotentOutcome(key) }
                == IdempotentOutcome(requestDigest: [1], resource: "merchant.a"))
        for other in [
            IdempotencyKey(caller: "uid:2", operation: key.operation, value: key.value),
            IdempotencyKey(caller: "uid:1", operation: "POST /v1/rolls", value: key.value),
        ] { #expect(try await store.write { try $0.idempotentOutcome(other) } == nil) }
        let code = try await store.refusal {
            try $0.remember(key, requestDigest: [2], resource: "merchant.b", at: time)
        }
        #expect(code == .idempotencyKeyReused)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `an Idempotency-Key is removed when one is stored over a day later`(store: StoreUnderTest) async throws {
        let store = try store.open()
        func remember(_ value: String, at seconds: Int) async throws {
            try await store.write {
                try $0.remember(
                    Self.key(value), requestDigest: [1], resource: "r", at: ClockReading(Sample.time(seconds)))
            }
        }
        try await remember("old", at: 0)
        try await remember("day", at: 86_400)
        #expect(try await store.write { try $0.idempotentOutcome(Self.key("old")) } != nil)
        try await remember("later", at: 86_401)
        #expect(try await store.write { try $0.idempotentOutcome(Self.key("old")) } == nil)
        #expect(try await store.write { try $0.idempotentOutcome(Self.key("day")) } != nil)
    }
}
