import MerchantCore
import Testing
import Vocabulary

/// The contract of ``StatusReading``.
@Suite struct StatusContract {
    @Test(arguments: StoreUnderTest.allCases)
    func `the counts are those of the stored rows at the given time`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .current, .standby, .pending)
        try await store.storeMerchant(1, .current)
        try await store.write { try $0.append(Sample.entry(.merchantAdded)) }
        let counts = try await store.read { try $0.counts(at: Sample.time(0)) }
        #expect(counts.merchants == 2 && counts.certificates == 3 && counts.merchantsBelowTarget == 1)
        #expect(counts.keyPairs.filter { $0.value > 0 } == [.current: 2, .standby: 1, .pending: 1])
        #expect(counts.auditRecords == 1 && counts.auditHead?.sequence == 1)
        let later = try await store.read { try $0.counts(at: Sample.time(500 * 86_400)) }
        #expect(counts.activeWithExpiredCertificate == 0 && later.activeWithExpiredCertificate == 3)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `expiring key pairs are counted and listed by state and time of expiry`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .current, .standby, .retiring, .revoked)
        let begin = Sample.certificate(0).notAfter
        let end = Sample.certificate(2).notAfter
        try store.repository.readNow { reading throws in
            #expect(try reading.countKeyPairsExpiring(.active, from: begin, to: end) == 2)
            #expect(try reading.countKeyPairsExpiring(.current, from: begin, to: end) == 1)
            #expect(try reading.countKeyPairsExpiring(.notCurrent, from: begin, to: end.adding(.seconds(1))) == 2)
            let found = try reading.keyPairsExpiring(.notCurrent, from: begin, to: end.adding(.seconds(1)), limit: 1)
            #expect(found.map(\.keyPair.publicKeyHash) == [Sample.hash(1)])
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `merchants below their target are listed by identifier and by expiry`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .current, .standby)
        try await store.storeMerchant(1, .current)
        try await store.storeMerchant(2)
        let ends = Sample.certificate(10).notAfter
        try store.repository.readNow { reading throws in
            let below = try reading.merchantsBelowTarget(afterMerchant: nil, limit: 9)
            #expect(below.map(\.merchantIdentifier) == [Sample.identifier(1), Sample.identifier(2)])
            #expect(below.map(\.activeKeyPairs) == [1, 0] && below.map(\.hadActiveKeyPair) == [true, false])
            #expect(below.map(\.currentCertificateExpiry) == [ends, nil])
            #expect(try reading.merchantsBelowTarget(afterMerchant: Sample.identifier(1), limit: 9).count == 1)
            #expect(try reading.merchantsBelowTarget(certificateExpiringBy: ends, limit: 9).count == 1)
            #expect(
                try reading.merchantsBelowTarget(certificateExpiringBy: ends.adding(.seconds(-1)), limit: 9).isEmpty)
            #expect(try reading.countBelowTarget(certificateExpiringFrom: ends, to: ends.adding(.seconds(1))) == 1)
            #expect(try reading.countBelowTarget(certificateExpiringFrom: Sample.time(0), to: ends) == 0)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `active key pairs whose issuer was not verified are counted and listed until it is verified`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .standby, .pending)
        func unverified() async throws -> [PublicKeyHash] {
            let (found, count) = try await store.read { reading in
                (try reading.keyPairsWithIssuerNotVerified(limit: 9), try reading.countIssuerNotVerified())
            }
            #expect(found.count == count)
            return found.map(\.publicKeyHash)
        }
        #expect(try await unverified() == [])
        let certificate = Sample.certificate(5, issuerVerified: false)
        try await store.write { _ = try $0.insert(certificate, of: Sample.hash(0)) }
        #expect(try await unverified() == [Sample.hash(0)])
        // Key pairs that are not active do not count.
        try await store.write { _ = try $0.insert(Sample.certificate(6, issuerVerified: false), of: Sample.hash(1)) }
        #expect(try await unverified() == [Sample.hash(0)])
        try await store.write { try $0.markIssuerVerified(certificate, of: Sample.hash(0)) }
        #expect(try await unverified() == [])
        let stored = try await store.read { try $0.certificates(of: Sample.hash(0)) }
        #expect(stored.allSatisfy(\.issuerVerified) && stored.count == 2)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a standby key pair with a reported use is in use until the current one is used or a roll to the pair begins`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .current, .standby, .standby)
        try await store.storeMerchant(1, .standby)
        func inUse() async throws -> [PublicKeyHash] {
            let (found, count) = try await store.read { reading in
                (try reading.standbyKeyPairsInUse(limit: 9), try reading.countStandbyKeyPairsInUse())
            }
            #expect(found.count == count)
            return found.map(\.publicKeyHash)
        }
        /// Stores one decryption.
        func use(_ number: Int, at time: Timestamp, reported: Bool = true) async throws {
            let use = KeyUse(
                decryptions: Occurrences(count: 1, first: time, last: time),
                standbyUseReportedAt: reported ? time : nil)
            try await store.write { try $0.setKeyUse(use, of: Sample.hash(number)) }
        }
        let since = Sample.keyPair(0, .current).stateSince
        #expect(try await inUse() == [])
        try await use(1, at: since.adding(.seconds(10)), reported: false)
        #expect(try await inUse() == [])
        try await use(1, at: since.adding(.seconds(10)))
        try await use(10, at: since.adding(.seconds(10)))
        #expect(try await inUse() == [Sample.hash(1), Sample.hash(10)])
        #expect(try await store.read { try $0.standbyKeyPairsInUse(limit: 1) }.map(\.publicKeyHash) == [Sample.hash(1)])
        try await use(0, at: since.adding(.seconds(10)), reported: false)
        #expect(try await inUse() == [Sample.hash(10)])
        try await use(1, at: since.adding(.seconds(20)))
        #expect(try await inUse() == [Sample.hash(1), Sample.hash(10)])
        try await store.write {
            _ = try $0.insertRoll(
                of: Sample.identifier(0), algorithm: .ecV1, from: Sample.hash(0), to: Sample.hash(1), at: Sample.time(5)
            )
        }
        #expect(try await inUse() == [Sample.hash(10)])
        // A change of state ends the use, and the report with it.
        try await store.write { try $0.update(Sample.keyPair(10, of: 1, .revoked)) }
        try await store.write { try $0.update(Sample.keyPair(10, of: 1, .standby)) }
        #expect(try await inUse() == [])
        #expect(try await store.read { try $0.keyUse(of: Sample.hash(10))?.standbyUseReportedAt } == nil)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a merchant that lost its last active key pair is distinguished from a new one`(store: StoreUnderTest)
        async throws
    {
        let store = try store.open()
        try await store.storeMerchant(0, .standby)
        try await store.storeMerchant(1)
        #expect(try await store.read { try $0.countWithoutActiveKeyPair() } == 0)
        try await store.write { try $0.update(Sample.keyPair(0, .revoked)) }
        #expect(try await store.read { try $0.countWithoutActiveKeyPair() } == 1)
        let lost = try await store.read { try $0.merchantsWithoutActiveKeyPair(limit: 9).map(\.merchantIdentifier) }
        #expect(lost == [Sample.identifier(0)])
        // A merchant whose target is 0 needs no key pair.
        var merchant = Sample.merchant(0)
        merchant.targetActiveKeyPairs = 0
        try await store.write { [merchant] in try $0.update(merchant) }
        #expect(try await store.read { try $0.countWithoutActiveKeyPair() } == 0)
        #expect(try await store.read { try $0.merchantsWithoutActiveKeyPair(limit: 9) }.isEmpty)
        let below = try await store.read { try $0.merchantsBelowTarget(afterMerchant: nil, limit: 9) }
        #expect(below.map(\.merchantIdentifier) == [Sample.identifier(1)])
    }
}
