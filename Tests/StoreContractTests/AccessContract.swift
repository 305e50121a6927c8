import MerchantCore
import Testing
import Vocabulary

/// The contract of ``AccessReading`` and ``AccessWriting``.
@Suite struct AccessContract {
    @Test(arguments: StoreUnderTest.allCases)
    func `an access is read as it was stored and changed`(store: StoreUnderTest) async throws {
        let store = try store.open()
        var access = Sample.access(1)
        try await store.write { [access] in try $0.insert(access) }
        #expect(try await store.read { try $0.access(Sample.accessName(1)) } == access)
        #expect(try await store.read { try $0.access(Sample.accessName(2)) } == nil)
        access.expiresAt = nil
        access.lastUsedAt = Sample.time(5)
        try await store.write { [access] in try $0.update(access) }
        #expect(try await store.read { try $0.access(Sample.accessName(1)) } == access)
        #expect(try await store.refusal { try $0.update(Sample.access(2)) } == .accessNotFound)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `an access for every merchant differs from one for some merchants`(store: StoreUnderTest) async throws {
        let store = try store.open()
        let everyMerchant = Sample.access(1, certificate: 1)
        try await store.write { transaction in
            try transaction.insert(everyMerchant)
            try transaction.insert(Sample.access(2))
        }
        #expect(try await store.read { try $0.access(Sample.accessName(1)) } == everyMerchant)
        let merchants = try await store.read { try $0.access(Sample.accessName(2))?.merchants }
        #expect(merchants == [Sample.identifier(1), Sample.identifier(2)])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `an access is found by each secret that it still has, also after its revocation`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        var access = Sample.access(1)
        try await store.write { [access] in try $0.insert(access) }
        access.secrets = [Sample.accessSecret(2), Sample.accessSecret(1, expiresAt: Sample.time(60))]
        try await store.write { [access] in try $0.update(access) }
        func found(_ number: Int) async throws -> Access? {
            try await store.read { try $0.access(secretIdentifier: Sample.secret(number).identifier) }
        }
        #expect(try await found(1) == access)
        #expect(try await found(2) == access)
        access.secrets = [Sample.accessSecret(3), Sample.accessSecret(2, expiresAt: Sample.time(70))]
        try await store.write { [access] in try $0.update(access) }
        #expect(try await found(1) == nil)
        #expect(try await found(3) == access)
        access.revokedAt = Sample.time(80)
        try await store.write { [access] in try $0.update(access) }
        #expect(try await found(3) == access)
        access.secrets = []
        try await store.write { [access] in try $0.update(access) }
        #expect(try await found(3) == nil)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `an access has at most two secrets`(store: StoreUnderTest) async throws {
        let store = try store.open()
        var access = Sample.access(1)
        try await store.write { [access] in try $0.insert(access) }
        access.secrets = [3, 2, 1].map { Sample.accessSecret($0) }
        let changed = access
        #expect(try await store.refusal { try $0.update(changed) } == .internalError)
        #expect(try await store.read { try $0.access(Sample.accessName(1)) } == Sample.access(1))
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a client certificate names one access, until that access is revoked`(store: StoreUnderTest) async throws {
        let store = try store.open()
        var first = Sample.access(1, certificate: 7)
        let fingerprint = Sample.hash(7).bits
        try await store.write { [first] in try $0.insert(first) }
        #expect(try await store.read { try $0.access(certificateFingerprint: fingerprint) } == first)
        #expect(try await store.read { try $0.access(certificateFingerprint: Sample.hash(8).bits) } == nil)
        #expect(try await store.refusal { try $0.insert(Sample.access(2, certificate: 7)) } == .accessExists)
        first.revokedAt = Sample.time(5)
        try await store.write { [first] in try $0.update(first) }
        #expect(try await store.read { try $0.access(certificateFingerprint: fingerprint) } == nil)
        try await store.write { try $0.insert(Sample.access(2, certificate: 7)) }
        let second = try await store.read { try $0.access(certificateFingerprint: fingerprint)?.name }
        #expect(second == Sample.accessName(2))
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a revoked access stays revoked, gets no new secret, and its name is not used again`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        var revoked = Sample.access(1)
        try await store.write { [revoked] in try $0.insert(revoked) }
        revoked.revokedAt = Sample.time(5)
        try await store.write { [revoked] in try $0.update(revoked) }
        var withSecret = revoked
        withSecret.secrets = [Sample.accessSecret(9)]
        for changed in [Sample.access(1), withSecret] {
            #expect(try await store.refusal { try $0.update(changed) } == .internalError)
        }
        #expect(try await store.refusal { try $0.insert(Sample.access(1)) } == .accessExists)
        #expect(try await store.read { try $0.access(Sample.accessName(1)) } == revoked)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a list has every access, by name`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.write { transaction in
            for number in [3, 1, 2] { try transaction.insert(Sample.access(number)) }
            var revoked = Sample.access(2)
            revoked.revokedAt = Sample.time(5)
            try transaction.update(revoked)
        }
        func list(after cursor: Int?, limit: Int) async throws -> [AccessName] {
            try await store.read {
                try $0.accesses(after: cursor.map(Sample.accessName), limit: limit).map(\.name)
            }
        }
        #expect(try await list(after: nil, limit: 9) == [1, 2, 3].map(Sample.accessName))
        #expect(try await list(after: 1, limit: 1) == [Sample.accessName(2)])
        #expect(try await list(after: 3, limit: 9).isEmpty)
    }
}
