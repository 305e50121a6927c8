import MerchantCore
import Testing
import Vocabulary

/// The contract of ``MerchantTokenReading`` and ``MerchantTokenWriting``.
@Suite struct MerchantTokenContract {
    @Test(arguments: StoreUnderTest.allCases)
    func `a merchant token is read as it was stored and changed`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0)
        #expect(try await store.read { try $0.merchantToken(Sample.token(1)) } == nil)
        var token = Sample.merchantToken(1)
        try await store.write { [token] in try $0.store(token) }
        #expect(try await store.read { try $0.merchantToken(Sample.token(1)) } == token)
        token.state = .unlinked
        token.lastSeenAt = Sample.time(9)
        token.lastEvent = MerchantToken.LastEvent(
            identifier: Sample.tokenEvent(1), type: "UNLINK", reason: "UNLINKDEVICE", receivedAt: Sample.time(8))
        token.card = Sample.card
        token.notificationURL = "https://example.com/tokenapi"
        try await store.write { [token] in try $0.store(token) }
        #expect(try await store.read { try $0.merchantToken(Sample.token(1)) } == token)
        token.lastEvent = nil
        token.card = MerchantTokenCard()
        token.notificationURL = nil
        try await store.write { [token] in try $0.store(token) }
        #expect(try await store.read { try $0.merchantToken(Sample.token(1)) } == token)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a merchant token keeps its merchant and first use, and its last use never moves back`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        try await store.storeMerchant(0)
        try await store.storeMerchant(1)
        try await store.write { transaction in
            try transaction.store(Sample.merchantToken(5))
            try transaction.store(
                MerchantToken(
                    identifier: Sample.token(5), merchantIdentifier: Sample.identifier(1), state: .unlinked,
                    firstSeenAt: Sample.time(1), lastSeenAt: Sample.time(2)))
        }
        #expect(
            try await store.read { try $0.merchantToken(Sample.token(5)) } == Sample.merchantToken(5, .unlinked))
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `payments add unknown tokens, and move only the last use of known ones`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0)
        try await store.storeMerchant(1)
        var known = Sample.merchantToken(5, .unlinked)
        known.card = Sample.card
        try await store.write { [known] transaction in
            try transaction.store(known)
            try transaction.recordPayments([
                Sample.payment(5, of: 1, from: 3, to: 9), Sample.payment(6, of: 1, from: 3, to: 9),
                Sample.payment(6, of: 1, from: 1, to: 4),
            ])
        }
        known.lastSeenAt = Sample.time(9)
        #expect(try await store.read { try $0.merchantToken(Sample.token(5)) } == known)
        let added = MerchantToken(
            identifier: Sample.token(6), merchantIdentifier: Sample.identifier(1), firstSeenAt: Sample.time(3),
            lastSeenAt: Sample.time(9))
        #expect(try await store.read { try $0.merchantToken(Sample.token(6)) } == added)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `merchant tokens are listed by identifier, in pages, by merchants and state`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        for merchant in 0..<3 { try await store.storeMerchant(merchant) }
        let all = (1...9).map { Sample.merchantToken($0, of: $0 % 3, $0 % 2 == 0 ? .unlinked : .linked) }
        try await store.write { transaction in for token in all.reversed() { try transaction.store(token) } }
        let choices: [Set<MerchantIdentifier>?] = [
            nil, [], [Sample.identifier(1)], [Sample.identifier(0), Sample.identifier(2), Sample.identifier(7)],
        ]
        for merchants in choices {
            for state in [nil, .linked, .unlinked] as [MerchantToken.State?] {
                for cursor in [nil, Sample.token(4)] {
                    let expected = all.filter { token in
                        merchants?.contains(token.merchantIdentifier) ?? true && state ?? token.state == token.state
                            && cursor.map { $0 < token.identifier } ?? true
                    }
                    for limit in [0, 2, 100] {
                        let found = try await store.read {
                            try $0.merchantTokens(of: merchants, in: state, after: cursor, limit: limit)
                        }
                        #expect(found == Array(expected.prefix(limit)))
                    }
                }
            }
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a token, a payment, a notification and a path need a stored merchant`(store: StoreUnderTest) async throws {
        let store = try store.open()
        #expect(try await store.refusal { try $0.store(Sample.merchantToken(1)) } == .merchantNotFound)
        #expect(
            try await store.refusal { try $0.recordPayments([Sample.payment(1, from: 1, to: 2)]) }
                == .merchantNotFound)
        let notification = try await store.refusal {
            try $0.insertTokenNotification(
                Sample.tokenEvent(1), of: Sample.identifier(0), from: "17.58.0.1", at: Sample.time(0))
        }
        #expect(notification == .merchantNotFound)
        let path = TokenNotificationPath(
            secret: String(repeating: "a", count: 32), merchantIdentifier: Sample.identifier(0),
            createdAt: Sample.time(0))
        #expect(try await store.refusal { try $0.insert(path) } == .merchantNotFound)
    }
}
