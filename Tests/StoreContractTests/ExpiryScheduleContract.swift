import MerchantCore
import Testing
import Vocabulary

/// The contract of ``ExpiryScheduleReading`` and ``ExpiryScheduleWriting``.
@Suite struct ExpiryScheduleContract {
    @Test(arguments: StoreUnderTest.allCases)
    func `an active key pair with a certificate is due immediately, then at the time that was set`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .current, .pending, .revoked)
        func due(_ seconds: Int) async throws -> [PublicKeyHash] {
            try await store.read {
                try $0.keyPairsDueForExpiryCheck(at: Sample.time(seconds), limit: 9).map(\.keyPair.publicKeyHash)
            }
        }
        #expect(try await due(0) == [Sample.hash(0)])
        try await store.write { try $0.setNextExpiryCheck(of: Sample.hash(0), at: Sample.time(10)) }
        #expect(try await due(9).isEmpty)
        #expect(try await due(10) == [Sample.hash(0)])
        try await store.write { try $0.setNextExpiryCheck(of: Sample.hash(0), at: nil) }
        #expect(try await due(1_000_000).isEmpty)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a new certificate and a new state make a key pair due again`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .standby)
        func isDue() async throws -> Bool {
            try await store.read { try !$0.keyPairsDueForExpiryCheck(at: Sample.time(0), limit: 9).isEmpty }
        }
        try await store.write { try $0.setNextExpiryCheck(of: Sample.hash(0), at: nil) }
        #expect(try await !isDue())
        try await store.write { _ = try $0.insert(Sample.certificate(5), of: Sample.hash(0)) }
        #expect(try await isDue())
        try await store.write { try $0.setNextExpiryCheck(of: Sample.hash(0), at: nil) }
        try await store.write { try $0.update(Sample.keyPair(0, .current)) }
        #expect(try await isDue())
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a warning is remembered for its expiry and threshold`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .standby)
        let ends = Sample.certificate(0).notAfter
        try await store.write {
            try $0.recordExpiryWarning(of: ends, days: 30, key: Sample.hash(0), at: Sample.time(1))
        }
        try store.repository.readNow { reading throws in
            #expect(try reading.wasExpiryWarningSent(of: ends, days: 30, key: Sample.hash(0)))
            #expect(try !reading.wasExpiryWarningSent(of: ends, days: 7, key: Sample.hash(0)))
            #expect(try !reading.wasExpiryWarningSent(of: ends.adding(.seconds(1)), days: 30, key: Sample.hash(0)))
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `expiring key pairs are sorted by the expiry of their last certificate`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .current, .standby, .revoked)
        try await store.write { _ = try $0.insert(Sample.certificate(7, days: 400), of: Sample.hash(0)) }
        let end = Sample.certificate(7, days: 400).notAfter
        let found = try await store.read { try $0.keyPairsExpiring(by: end, limit: 9) }
        #expect(found.map(\.keyPair.publicKeyHash) == [Sample.hash(1), Sample.hash(0)])
        #expect(found.last?.notAfter == end)
        #expect(try await store.read { try $0.keyPairsExpiring(by: end.adding(.seconds(-1)), limit: 9).count } == 1)
    }
}
