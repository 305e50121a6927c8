import MerchantCore
import Testing
import Vocabulary

/// The contract of ``KeyUseReading`` and ``KeyUseWriting``.
@Suite struct KeyUseContract {
    static func use(_ requests: Int, _ first: Int, _ last: Int, decryptions: Int? = nil) -> KeyUse {
        KeyUse(
            requests: Occurrences(count: requests, first: Sample.time(first), last: Sample.time(last)),
            decryptions: decryptions.map {
                Occurrences(count: $0, first: Sample.time(first), last: Sample.time(last))
            })
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `uses add up, and a use that is set replaces them`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.stock(0, .standby)
        #expect(try await store.read { try $0.keyUse(of: Sample.hash(0)) } == nil)
        try await store.write { try $0.addKeyUse(Self.use(2, 10, 20), of: Sample.hash(0)) }
        try await store.write { try $0.addKeyUse(Self.use(3, 5, 15, decryptions: 1), of: Sample.hash(0)) }
        let sum = try await store.read { try $0.keyUse(of: Sample.hash(0)) }
        #expect(sum?.requests == Occurrences(count: 5, first: Sample.time(5), last: Sample.time(20)))
        #expect(sum?.decryptions == Occurrences(count: 1, first: Sample.time(5), last: Sample.time(15)))
        var other = Self.use(1, 1, 1)
        other.revokedUseReportedAt = Sample.time(3)
        other.decryptions = Occurrences(count: 1, first: Sample.time(1), last: Sample.time(1))
        other.standbyUseReportedAt = Sample.time(4)
        try await store.write { [other] in try $0.setKeyUse(other, of: Sample.hash(0)) }
        #expect(try await store.read { try $0.keyUse(of: Sample.hash(0)) } == other)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a decryption confirms the promotion of a current key pair, until its state changes`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        try await store.stock(0, .standby)
        var promoted = Sample.keyPair(0, .current)
        promoted.stateSince = Sample.time(30)
        try await store.write { [promoted] in
            try $0.update(promoted)
            try $0.addKeyUse(Self.use(1, 20, 40, decryptions: 1), of: Sample.hash(0))
        }
        #expect(try await store.read { try $0.keyUse(of: Sample.hash(0))?.promotionConfirmedAt } == Sample.time(40))
        promoted.state = .retiring
        try await store.write { [promoted] in try $0.update(promoted) }
        #expect(try await store.read { try $0.keyUse(of: Sample.hash(0))?.promotionConfirmedAt } == nil)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a use has consequences for the key pairs of an open roll, and for standby and revoked ones`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        try await store.stock(0, .current, .pending, .standby, .revoked, .retiring)
        try await store.write {
            _ = try $0.insertRoll(
                of: Sample.identifier(0), algorithm: .ecV1, from: Sample.hash(0), to: Sample.hash(1), at: Sample.time(5)
            )
        }
        let consequences = try await store.read { reading in
            try (0..<5).map { try reading.useChangesMoreThanCounters(of: Sample.hash($0)) }
        }
        #expect(consequences == [true, true, true, true, false])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `known hashes are sorted by their rows, unknown ones are left out`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.stock(0, .pending, .pending, .pending)
        let sorted = try await store.read {
            try $0.sortedByRow([Sample.hash(2), Sample.hash(9), Sample.hash(0), Sample.hash(1)])
        }
        #expect(sorted == [Sample.hash(0), Sample.hash(1), Sample.hash(2)])
    }
}
