import MerchantCore
import Testing
import Vocabulary

/// The contract of ``MerchantReading`` and ``MerchantWriting``.
@Suite struct MerchantContract {
    @Test(arguments: StoreUnderTest.allCases)
    func `a merchant is read as it was stored and changed`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.write { try $0.insert(Sample.merchant(1)) }
        #expect(try await store.read { try $0.merchant(Sample.identifier(1)) } == Sample.merchant(1))
        #expect(try await store.read { try $0.merchant(Sample.identifier(2)) } == nil)
        var changed = Sample.merchant(1)
        changed.name = "Other"
        changed.targetActiveKeyPairs = 3
        try await store.write { [changed] in try $0.update(changed) }
        #expect(try await store.read { try $0.merchant(Sample.identifier(1)) } == changed)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `an identifier names only one merchant, even after its removal`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.write { transaction in
            var merchant = Sample.merchant(1)
            try transaction.insert(merchant)
            merchant.removedAt = Sample.time(1)
            try transaction.update(merchant)
        }
        #expect(try await store.refusal { try $0.insert(Sample.merchant(1)) } == .merchantExists)
        #expect(try await store.read { try $0.merchant(Sample.identifier(1))?.removedAt } == Sample.time(1))
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a list has the merchants that were not removed, by identifier`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.write { transaction in
            for number in [3, 1, 2] { try transaction.insert(Sample.merchant(number)) }
            var removed = Sample.merchant(2)
            removed.removedAt = Sample.time(1)
            try transaction.update(removed)
        }
        let (all, rest, none) = try await store.read {
            (
                try $0.merchants(after: nil, limit: 10), try $0.merchants(after: Sample.identifier(1), limit: 10),
                try $0.merchants(after: nil, limit: 0)
            )
        }
        #expect(all == [Sample.merchant(1), Sample.merchant(3)] && rest == [Sample.merchant(3)] && none.isEmpty)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a filter selects merchants by the beginning of their identifier, and those below their target`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        try await store.storeMerchant(1, .current, .standby)
        try await store.storeMerchant(2, .current)
        try await store.storeMerchant(12)
        func list(_ prefix: String?, belowTarget: Bool, after cursor: Int? = nil) async throws -> [MerchantIdentifier] {
            var filter = MerchantFilter()
            (filter.identifierPrefix, filter.isBelowTarget) = (prefix, belowTarget)
            return try await store.read { [filter] in
                try $0.merchants(filter, after: cursor.map(Sample.identifier), limit: 9).map(\.identifier)
            }
        }
        let prefix = "\(Sample.identifier(1))"
        #expect(try await list(prefix, belowTarget: false) == [Sample.identifier(1), Sample.identifier(12)])
        #expect(try await list(prefix, belowTarget: true) == [Sample.identifier(12)])
        #expect(try await list(nil, belowTarget: true) == [Sample.identifier(12), Sample.identifier(2)])
        #expect(try await list(nil, belowTarget: true, after: 12) == [Sample.identifier(2)])
        #expect(try await list(prefix, belowTarget: false, after: 12) == [])
        #expect(try await list("merchant.com.example.z", belowTarget: false) == [])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `platform integrators are recognized by their identifier`(store: StoreUnderTest) async throws {
        let store = try store.open()
        let integrator = try #require(MerchantIdentifier("platformintegrator.com.example"))
        try await store.write { transaction in
            try transaction.insert(Sample.merchant(1))
            try transaction.insert(Merchant(identifier: integrator, name: nil, createdAt: Sample.time(0)))
        }
        #expect(try await store.read { try $0.platformIntegrators(limit: 2) } == [integrator])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a merchant with an active key pair cannot be removed, and an unknown one cannot be changed`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        try await store.storeMerchant(1, .current)
        var removed = Sample.merchant(1)
        removed.removedAt = Sample.time(1)
        let merchant = removed
        let inUse = try await store.refusal { try $0.update(merchant) }
        let unknown = try await store.refusal { try $0.update(Sample.merchant(2)) }
        #expect(inUse == .merchantInUse && unknown == .merchantNotFound)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a write that throws changes nothing`(store: StoreUnderTest) async throws {
        let store = try store.open()
        let code = try await store.refusal { transaction in
            try transaction.insert(Sample.merchant(1))
            throw MerchantError(.overloaded, "on purpose")
        }
        #expect(code == .overloaded)
        #expect(try await store.read { try $0.merchant(Sample.identifier(1)) } == nil)
    }
}
