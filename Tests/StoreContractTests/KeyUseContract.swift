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
        try await store.storeMerchant(0, .standby)
        #expect(try await store.read { try $0.keyUse(of: Sample.hash(0)) } == nil)
        try await store.write { try $0.addKeyUses([(Sample.hash(0), Self.use(2, 10, 20))]) }
        try await store.write { try $0.addKeyUses([(Sample.hash(0), Self.use(3, 5, 15, decryptions: 1))]) }
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
        try await store.storeMerchant(0, .standby)
        var promoted = Sample.keyPair(0, .current)
        promoted.stateSince = Sample.time(30)
        try await store.write { [promoted] in
            try $0.update(promoted)
            try $0.addKeyUses([(Sample.hash(0), Self.use(1, 20, 40, decryptions: 1))])
        }
        #expect(try await store.read { try $0.keyUse(of: Sample.hash(0))?.promotionConfirmedAt } == Sample.time(40))
        promoted.state = .retiring
        try await store.write { [promoted] in try $0.update(promoted) }
        #expect(try await store.read { try $0.keyUse(of: Sample.hash(0))?.promotionConfirmedAt } == nil)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a use changes key pairs of an open roll and revoked ones, and a decryption changes standby ones`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .current, .pending, .standby, .revoked, .retiring)
        try await store.write {
            _ = try $0.insertRoll(
                of: Sample.identifier(0), algorithm: .ecV1, from: Sample.hash(0), to: Sample.hash(1), at: Sample.time(5)
            )
        }
        func changed(by use: KeyUse) async throws -> Set<PublicKeyHash> {
            try await store.read { try $0.keyPairsChanged(by: (0..<6).map { (Sample.hash($0), use) }) }
        }
        #expect(try await changed(by: Self.use(1, 10, 20)) == Set([0, 1, 3].map(Sample.hash)))
        #expect(try await changed(by: Self.use(1, 10, 20, decryptions: 1)) == Set([0, 1, 2, 3].map(Sample.hash)))
        #expect(try await store.read { try $0.keyPairsChanged(by: []) } == [])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `uses of many key pairs are added to the right ones, and uses of unknown key pairs are ignored`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .current, .retiring, .pending)
        let uses: [(key: PublicKeyHash, value: KeyUse)] = [
            (Sample.hash(2), Self.use(3, 30, 33)), (Sample.hash(9), Self.use(9, 90, 99)),
            (Sample.hash(0), Self.use(1, 10, 11, decryptions: 4)),
            (Sample.hash(1), KeyUse(decryptions: Occurrences(count: 2, first: Sample.time(20), last: Sample.time(22)))),
        ]
        try await store.write { try $0.addKeyUses([]) }
        for round in 1...2 {
            try await store.write { try $0.addKeyUses(uses) }
            let stored = try await store.read { try $0.keyUses(of: uses.map(\.key)) }
            #expect(
                stored.mapValues { $0.requests?.count } == [
                    Sample.hash(0): round, Sample.hash(1): nil, Sample.hash(2): 3 * round,
                ])
            #expect(
                stored.mapValues { $0.decryptions?.count } == [
                    Sample.hash(0): 4 * round, Sample.hash(1): 2 * round, Sample.hash(2): nil,
                ])
            #expect(stored[Sample.hash(2)]?.requests?.last == Sample.time(33))
            #expect(stored[Sample.hash(1)]?.decryptions?.first == Sample.time(20))
            #expect(stored[Sample.hash(0)]?.promotionConfirmedAt == Sample.time(10))
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `known hashes are sorted by their rows, unknown ones are left out`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .pending, .pending, .pending)
        let sorted = try await store.read {
            try $0.sortedByRow([Sample.hash(2), Sample.hash(9), Sample.hash(0), Sample.hash(1)])
        }
        #expect(sorted == [Sample.hash(0), Sample.hash(1), Sample.hash(2)])
    }
}
