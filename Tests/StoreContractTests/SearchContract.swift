import MerchantCore
import Testing
import Vocabulary

/// The contract of ``SearchReading``.
@Suite struct SearchContract {
    @Test(arguments: StoreUnderTest.allCases)
    func `merchants are found by the beginning of their identifier, without removed ones`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        try await store.write { transaction in
            for number in [12, 1, 2] { try transaction.insert(Sample.merchant(number)) }
            var removed = Sample.merchant(13)
            try transaction.insert(removed)
            removed.removedAt = Sample.time(1)
            try transaction.update(removed)
        }
        func found(_ text: String, limit: Int = 9) async throws -> [MerchantIdentifier] {
            try await store.read { try $0.merchants(identifierPrefix: text, limit: limit).map(\.identifier) }
        }
        #expect(try await found("merchant.com.example.shop1") == [Sample.identifier(1), Sample.identifier(12)])
        #expect(try await found("merchant.com.example.shop1", limit: 1) == [Sample.identifier(1)])
        #expect(try await found("merchant.com.example.shop2") == [Sample.identifier(2)])
        #expect(try await found("merchant.com.example.Shop").isEmpty)
        #expect(try await found("platformintegrator.").isEmpty)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `merchants are found by a part of their name or identifier, page by page`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.write { transaction in
            let names: [(Int, String?)] = [
                (1, "Green Tea"), (2, nil), (3, "TEAPOTS"), (4, "Grüner Tee"), (5, "Steak"),
            ]
            for (number, name) in names {
                try transaction.insert(
                    Merchant(identifier: Sample.identifier(number), name: name, createdAt: Sample.time(0)))
            }
            var removed = Merchant(identifier: Sample.identifier(6), name: "Tea", createdAt: Sample.time(0))
            try transaction.insert(removed)
            removed.removedAt = Sample.time(1)
            try transaction.update(removed)
        }
        func page(_ text: String, after cursor: Int?, examining count: Int) async throws -> MerchantSearchPage {
            try await store.read {
                try $0.merchants(containing: text, after: cursor.map(Sample.identifier), examining: count)
            }
        }
        let all = try await page("tea", after: nil, examining: 100)
        #expect(all.found.map(\.identifier) == [1, 3, 5].map(Sample.identifier) && all.next == nil)
        let first = try await page("tea", after: nil, examining: 2)
        #expect(first.found.map(\.identifier) == [Sample.identifier(1)] && first.next == Sample.identifier(2))
        let last = try await page("tea", after: 2, examining: 5)
        #expect(last.found.map(\.identifier) == [3, 5].map(Sample.identifier) && last.next == nil)
        #expect(try await page("grün", after: nil, examining: 100).found.map(\.identifier) == [Sample.identifier(4)])
        #expect(try await page("Shop3", after: nil, examining: 100).found.map(\.identifier) == [Sample.identifier(3)])
        #expect(try await page("shop6", after: nil, examining: 100).found.isEmpty)
        // The wildcards of SQL patterns match only themselves.
        #expect(try await page("%", after: nil, examining: 100).found.isEmpty)
        #expect(try await page("_", after: nil, examining: 100).found.isEmpty)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `domains are found by their beginning, whether desired or registered at Apple`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        try await store.storeMerchant(7)
        try await store.write { transaction in
            var registration = Sample.registration(1, Sample.wanted("shop.example", "www.example"))
            registration.merchantIdentifier = Sample.identifier(7)
            registration.appleRecord = AppleRecord(
                details: AppleRecord.Details(
                    partnerMerchantName: "Shop", encryptToHash: Sample.identifier(0).appleHash,
                    domainNames: ["shop.example", "shoes.example"]),
                learnedAt: Sample.time(1))
            try transaction.insert(registration)
            try transaction.insert(Sample.registration(2, Sample.wanted("shore.example")))
        }
        func found(_ text: String, limit: Int = 9) async throws -> [FoundDomain] {
            try await store.read { try $0.domains(prefix: text, limit: limit) }
        }
        func domain(_ name: String, _ partner: Int, _ merchant: Int?) -> FoundDomain {
            FoundDomain(
                name: name, partnerInternalMerchantIdentifier: Sample.partner(partner),
                merchantIdentifier: merchant.map(Sample.identifier))
        }
        #expect(
            try await found("sho") == [
                domain("shoes.example", 1, 7), domain("shop.example", 1, 7), domain("shore.example", 2, nil),
            ])
        #expect(try await found("sho", limit: 1) == [domain("shoes.example", 1, 7)])
        #expect(try await found("shop.example") == [domain("shop.example", 1, 7)])
        #expect(try await found("example").isEmpty)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `domains are found by a part of their name, page by page`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(7)
        try await store.write { transaction in
            var registration = Sample.registration(1, Sample.wanted("shop.example", "www.example"))
            registration.merchantIdentifier = Sample.identifier(7)
            registration.appleRecord = AppleRecord(
                details: AppleRecord.Details(
                    partnerMerchantName: "Shop", encryptToHash: Sample.identifier(0).appleHash,
                    domainNames: ["shop.example", "Old-Shop.example"]),
                learnedAt: Sample.time(1))
            try transaction.insert(registration)
            try transaction.insert(Sample.registration(2, Sample.wanted("www.example")))
            try transaction.insert(Sample.registration(3, Sample.wanted("my-shop.example")))
        }
        func page(_ text: String, after cursor: Int?, examining count: Int) async throws -> DomainSearchPage {
            try await store.read {
                try $0.domains(containing: text, after: cursor.map(Sample.partner), examining: count)
            }
        }
        let all = try await page("SHOP", after: nil, examining: 100)
        #expect(all.found.map(\.name) == ["Old-Shop.example", "shop.example", "my-shop.example"] && all.next == nil)
        #expect(all.found.map(\.merchantIdentifier) == [Sample.identifier(7), Sample.identifier(7), nil])
        let first = try await page("shop", after: nil, examining: 2)
        #expect(first.found.count == 2 && first.next == Sample.partner(2))
        let last = try await page("shop", after: 2, examining: 5)
        #expect(last.found.map(\.name) == ["my-shop.example"] && last.next == nil)
        #expect(try await page("_", after: nil, examining: 100).found.isEmpty)
    }
}
