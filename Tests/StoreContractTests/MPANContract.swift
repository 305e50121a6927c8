import MerchantCore
import Testing
import Vocabulary

/// The contract of the account numbers in ``MerchantTokenReading`` and ``MerchantTokenWriting``.
@Suite struct MPANContract {
    private static func mpan(_ token: Int, of merchant: Int = 0, byte: UInt8, receivedAt: Int = 1) -> StoredMPAN {
        StoredMPAN(
            sealed: SealedMPAN(
                owner: SealedMPAN.Owner(Sample.token(token), of: Sample.identifier(merchant)), version: 1,
                dataKeyIdentifier: 1, bytes: [UInt8](repeating: byte, count: SealedMPAN.length)),
            receivedAt: Sample.time(receivedAt))
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `an account number is read as it was stored, replaced and erased`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0)
        try await store.write { try $0.store(Sample.merchantToken(1)) }
        #expect(try await store.read { try $0.mpan(of: Sample.token(1)) } == nil)
        for mpan in [Self.mpan(1, byte: 7), Self.mpan(1, byte: 8, receivedAt: 9)] {
            try await store.write { try $0.store(mpan) }
            #expect(try await store.read { try $0.mpan(of: Sample.token(1)) } == mpan)
        }
        // Neither a change of the linked token nor a payment changes the account number.
        try await store.write { transaction in
            try transaction.store(Sample.merchantToken(1))
            try transaction.recordPayments([Sample.payment(1, from: 3, to: 9)])
        }
        #expect(try await store.read { try $0.mpan(of: Sample.token(1)) } == Self.mpan(1, byte: 8, receivedAt: 9))
        for _ in 0..<2 { try await store.write { try $0.eraseMPAN(of: Sample.token(1)) } }
        #expect(try await store.read { try $0.mpan(of: Sample.token(1)) } == nil)
        try await store.write { try $0.store(Self.mpan(1, byte: 9)) }
        #expect(try await store.read { try $0.mpan(of: Sample.token(1)) } == Self.mpan(1, byte: 9))
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `unlinking a token erases its account number, and no other`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0)
        try await store.write { transaction in
            for number in 1...2 {
                try transaction.store(Sample.merchantToken(number))
                try transaction.store(Self.mpan(number, byte: UInt8(number)))
            }
            try transaction.store(Sample.merchantToken(1, .unlinked))
        }
        #expect(try await store.read { try $0.mpan(of: Sample.token(1)) } == nil)
        #expect(try await store.read { try $0.mpan(of: Sample.token(2)) } == Self.mpan(2, byte: 2))
        #expect(try await store.refusal { try $0.store(Self.mpan(1, byte: 3)) } == .merchantTokenStateConflict)
        #expect(try await store.refusal { try $0.store(Self.mpan(3, byte: 3)) } == .merchantTokenNotFound)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `stored account numbers are listed by token, in pages, without erased ones`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        try await store.storeMerchant(0)
        try await store.storeMerchant(1)
        let all = (1...5).map { Self.mpan($0, of: $0 % 2, byte: UInt8($0)) }
        try await store.write { transaction in
            for number in (1...5).reversed() {
                try transaction.store(Sample.merchantToken(number, of: number % 2))
                try transaction.store(all[number - 1])
            }
            try transaction.eraseMPAN(of: Sample.token(3))
        }
        #expect(try await store.read { try $0.mpans(after: nil, limit: 2) } == Array(all[0..<2]))
        #expect(try await store.read { try $0.mpans(after: Sample.token(2), limit: 9) } == Array(all[3...]))
        #expect(try await store.read { try $0.mpans(after: Sample.token(5), limit: 9) } == [])
    }
}
