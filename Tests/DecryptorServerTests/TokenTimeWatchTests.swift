import Crypto
import FoundationEssentials
import MerchantCore
import MerchantOperations
import PaymentToken
import Testing
import Vocabulary

@Suite("A clock that is plainly wrong")
struct TokenTimeWatchTests {
    static let now = Timestamp(millisecondsSince1970: 1_790_000_000_000)
    let watch = TokenTimeWatch()

    func id(_ number: Int) throws -> TransactionId {
        let digits = String(number, radix: 16)
        return try #require(TransactionId(hex: String(repeating: "0", count: 64 - digits.count) + digits))
    }

    /// - Parameter seconds: signing time minus time of receipt.
    func see(_ number: Int, _ seconds: Int, at moment: Timestamp = now) throws {
        watch.record(
            try id(number), signedAt: moment.adding(.seconds(seconds)), receivedAt: moment,
            isRefused: abs(seconds) > 300)
    }

    @Test("it takes twenty genuine tokens and a majority refused for time, and the median offset is told")
    func majority() throws {
        for number in 0..<19 { try see(number, -3600 - number) }
        #expect(watch.anomaly(at: Self.now) == nil)
        try see(19, -3600 - 19)
        let anomaly = try #require(watch.anomaly(at: Self.now))
        #expect(anomaly.refused == 20 && anomaly.genuine == 20)
        #expect(anomaly.medianOffset == .seconds(-3609))
        for number in 100..<120 { try see(number, 1) }
        #expect(watch.anomaly(at: Self.now) == nil, "half is no majority")
        try see(200, -7200)
        #expect(watch.anomaly(at: Self.now)?.refused == 21)
    }

    @Test("one old token sent again and again counts once")
    func repeated() throws {
        for _ in 0..<1000 { try see(1, -3600) }
        for number in 10..<29 { try see(number, 0) }
        #expect(watch.anomaly(at: Self.now) == nil)
    }

    @Test("tokens are forgotten after ten minutes, and after 256 others")
    func bounded() throws {
        for number in 0..<40 { try see(number, 3600) }
        #expect(watch.anomaly(at: Self.now.adding(.seconds(600)))?.genuine == 40)
        #expect(watch.anomaly(at: Self.now.adding(.seconds(601))) == nil)
        for number in 1000..<1256 { try see(number, 3600) }
        #expect(watch.anomaly(at: Self.now)?.genuine == 256)
        for number in 2000..<2256 { try see(number, 0) }
        #expect(watch.anomaly(at: Self.now) == nil)
    }

    @Test("genuine tokens only: a forged one says nothing about the clock; the finding names the side and the seconds")
    func throughTheUseCase() async throws {
        let stage = Stage()
        let key = P256.KeyAgreement.PrivateKey()
        for number in UInt8(0)..<25 {
            let genuine = number < 19
            let token = try MintedToken(
                to: key.publicKey, payment: number,
                signedAt: genuine ? stage.clock.now.adding(.seconds(-600)) : nil)
            _ = stage.operations.verify(try ApplePayToken(parsing: Array(token.paymentData.utf8)))
        }
        #expect(stage.operations.healthFindings().isEmpty)
        let last = try MintedToken(
            to: key.publicKey, payment: 99, signedAt: stage.clock.now.adding(.seconds(-600)))
        let parsed = try ApplePayToken(parsing: Array(last.paymentData.utf8))
        _ = stage.operations.verify(parsed, receivedAt: stage.clock.now.adding(.seconds(10_000)))
        #expect(stage.operations.healthFindings().isEmpty, "a time of the caller's own says nothing about the clock")
        _ = stage.operations.verify(parsed)
        let finding = try #require(stage.operations.healthFindings().first)
        #expect(finding.code == .clockWrong && finding.severity == .critical)
        #expect(finding.detail.contains("20 of the last 20") && finding.detail.contains("600 seconds"))
        #expect(finding.detail.contains("ahead of Apple's"))
    }
}
