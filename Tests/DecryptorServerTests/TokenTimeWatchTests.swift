import Crypto
import FoundationEssentials
import MerchantCore
import MerchantOperations
import PaymentToken
import Testing
import Vocabulary

@Suite struct TokenTimeWatchTests {
    static let now = Timestamp(millisecondsSince1970: 1_790_000_000_000)
    let watch = TokenTimeWatch()

    static func merchant(_ number: Int) -> MerchantIdentifier {
        DecryptorTestServer.identifier("merchant.com.example.m\(number)")
    }

    /// - Parameter seconds: signing time minus time of receipt.
    func record(merchant: Int, account: Int, _ seconds: Int, after milliseconds: Int = 0) {
        let receivedAt = Self.now.adding(.milliseconds(milliseconds))
        watch.record(
            watch.account(SensitiveText("48174991302\(10_000 + account)")), at: Self.merchant(merchant),
            signedAt: receivedAt.adding(.seconds(seconds)), receivedAt: receivedAt, isRefused: abs(seconds) > 300)
    }

    @Test func `an anomaly needs five merchants and a majority of refusals, and has their median offset`() throws {
        for number in 0..<4 { record(merchant: number, account: number, -3600 - number) }
        #expect(watch.anomaly(at: Self.now) == nil)
        record(merchant: 4, account: 4, -3604)
        let anomaly = try #require(watch.anomaly(at: Self.now))
        #expect(anomaly.refusing == 5 && anomaly.merchants == 5)
        #expect(anomaly.medianOffset == .seconds(-3602))
        for number in 10..<15 { record(merchant: number, account: number, 1) }
        #expect(watch.anomaly(at: Self.now) == nil, "half is no majority")
        record(merchant: 20, account: 20, -7200)
        #expect(watch.anomaly(at: Self.now)?.refusing == 6)
    }

    @Test func `one customer's old tokens cause no anomaly, at one merchant or at many`() {
        for number in 0..<12 { record(merchant: number % 3, account: 100 + number, 0) }
        for token in 0..<24 { record(merchant: 0, account: 1, -3600 - token, after: 1) }
        #expect(watch.anomaly(at: Self.now) == nil)
        for number in 0..<30 { record(merchant: 40 + number, account: 1, -3600, after: 2) }
        #expect(watch.anomaly(at: Self.now) == nil)
    }

    @Test func `one merchant's refused tokens of many customers cause no anomaly`() {
        for number in 0..<200 { record(merchant: 0, account: number, -3600) }
        for number in 1..<4 { record(merchant: number, account: 1000 + number, -3600) }
        #expect(watch.anomaly(at: Self.now) == nil)
    }

    @Test func `neither one merchant nor one customer hides that the clock is wrong`() {
        for number in 0..<5 { record(merchant: number, account: number, 3600) }
        for number in 0..<300 { record(merchant: 0, account: 1000 + number, 0, after: 1 + number) }
        #expect(watch.anomaly(at: Self.now)?.refusing == 4)
        // If the clock is one hour behind, a token that a customer has kept for one hour is accepted.
        for number in 0..<5 { record(merchant: number, account: 7777, 0, after: 1000 + number) }
        #expect(watch.anomaly(at: Self.now)?.refusing ?? 0 >= 3)
    }

    @Test func `in the sandbox, where all customers use the same test cards, each merchant counts`() {
        let watch = TokenTimeWatch(distinguishesAccounts: false)
        let account = watch.account(SensitiveText("4111111111111111"))
        for number in 0..<5 {
            #expect(watch.anomaly(at: Self.now) == nil)
            watch.record(
                account, at: Self.merchant(number), signedAt: Self.now.adding(.seconds(-3600)), receivedAt: Self.now,
                isRefused: true)
        }
        #expect(watch.anomaly(at: Self.now)?.merchants == 5)
    }

    @Test func `only the newest token of a merchant counts`() {
        for number in 0..<5 { record(merchant: number, account: number, 3600) }
        #expect(watch.anomaly(at: Self.now) != nil)
        for number in 0..<5 { record(merchant: number, account: number, 0, after: 1) }
        #expect(watch.anomaly(at: Self.now) == nil)
    }

    @Test func `tokens count for ten minutes, and only the 256 merchants with the newest tokens count`() {
        for number in 0..<5 { record(merchant: number, account: number, 3600) }
        #expect(watch.anomaly(at: Self.now.adding(.seconds(600)))?.merchants == 5)
        #expect(watch.anomaly(at: Self.now.adding(.seconds(601))) == nil)
        #expect(watch.hasRefusals(at: Self.now.adding(.seconds(600))))
        #expect(!watch.hasRefusals(at: Self.now.adding(.seconds(601))))
        for number in 1000..<1300 { record(merchant: number, account: number, 3600, after: number) }
        #expect(watch.anomaly(at: Self.now)?.merchants == 256)
    }
}

/// Which verified and decrypted tokens are recorded in the ``TokenTimeWatch``.
@Suite struct TokenTimeReportTests {
    let server = DecryptorTestServer()

    /// Adds merchants, each with its own key.
    func addMerchants(_ count: Int) -> [(MerchantIdentifier, P256.KeyAgreement.PrivateKey)] {
        (0..<count).map { number in
            let (merchant, key) = (TokenTimeWatchTests.merchant(number), P256.KeyAgreement.PrivateKey())
            server.addKey(of: merchant, key: key)
            return (merchant, key)
        }
    }

    func token(
        _ merchant: (MerchantIdentifier, P256.KeyAgreement.PrivateKey), account: Int, seconds: Int = -600,
        transactionNumber: UInt8 = 1
    ) throws -> MintedToken {
        try MintedToken(
            to: merchant.1.publicKey, of: merchant.0,
            plaintext: MintedToken.plaintext.replacing("4817499130210000", with: "48174991302\(10_000 + account)"),
            payment: transactionNumber, signedAt: server.clock.now.adding(.seconds(seconds)))
    }

    func verify(_ token: MintedToken, receivedAt: Timestamp? = nil) throws {
        let parsed = try ApplePayToken(parsing: Array(token.paymentData.utf8))
        _ = server.operations.paymentTokens.verify(parsed, receivedAt: receivedAt)
    }

    var finding: StatusFinding? { server.operations.monitoring.healthFindings().first { $0.code == .clockWrong } }

    @Test func `tokens of five merchants raise the finding, unless the caller gives the time`() async throws {
        let merchants = addMerchants(5)
        for number in 0..<4 { try verify(token(merchants[number], account: number)) }
        #expect(finding == nil)
        let last = try token(merchants[4], account: 4)
        try verify(last, receivedAt: server.clock.now.adding(.seconds(10_000)))
        #expect(finding == nil, "a time that the caller gave says nothing about the clock")
        let reply = try await decrypt(last)
        #expect(reply.status == 422 && reply.text.contains("tokenNotVerified"))
        let found = try #require(finding)
        #expect(found.severity == .critical)
        #expect(found.detail.contains("5 of the last 5 merchants") && found.detail.contains("600 seconds"))
        #expect(found.detail.contains("ahead of Apple's"))
        // New tokens of three merchants, verified or decrypted, outvote the old tokens of the other two.
        for number in 0..<2 { try verify(token(merchants[number], account: number, seconds: 0)) }
        #expect(finding != nil)
        #expect(try await decrypt(token(merchants[2], account: 2, seconds: 0)).status == 200)
        #expect(finding == nil)
    }

    func decrypt(_ token: MintedToken) async throws -> SocketClient.Reply {
        let request = token.request(expected: #"{"merchantIdentifier":"any"}"#, "")
        var reply: SocketClient.Reply?
        try await server.serve { _ in reply = try await server.ask("POST", "/v1/payment-tokens/decrypt", request) }
        return try #require(reply)
    }

    @Test func `a token counts for the merchant whose key decrypts it, whatever its publicKeyHash says`() throws {
        let merchants = addMerchants(8)
        for number in 0..<8 {
            // All but the first name another merchant's key: Apple's signature does not cover `publicKeyHash`.
            var forged = try token(merchants[0], account: number, transactionNumber: UInt8(number))
            let own = PublicKeyHash(of: merchants[0].1.publicKey.derRepresentation).base64
            let other = PublicKeyHash(of: merchants[number].1.publicKey.derRepresentation).base64
            forged.paymentData = forged.paymentData.replacing(own, with: other)
            try verify(forged)
        }
        #expect(finding == nil)
    }
}
