import MerchantCore
import MerchantTestSupport
import PostgresStore
import Testing
import Vocabulary

@Suite struct ClaimTests {
    let database: TemporaryDatabase

    init() throws { database = try TemporaryDatabase() }

    private static let start = Timestamp(millisecondsSince1970: 1_790_000_000_000)

    private static func digest(_ text: String) -> Bits256 { PublicKeyHash(of: Array(text.utf8)).bits }

    private static func claim(
        _ token: Int, caller: String = "uid:1000", key: String? = nil, request: String = "r", after seconds: Int = 0
    ) -> TokenClaim {
        TokenClaim(
            transactionId: digest("token \(token)"), caller: caller, at: start.adding(.seconds(seconds)),
            requestIdentity: key.map { .init(idempotencyKeyDigest: digest($0), requestDigest: digest(request)) })
    }

    private func claims() throws -> PostgresClaims {
        try PostgresClaims(try database.open(), clock: HandMovedClock(Self.start))
    }

    @Test func `each token is won once by one of several daemons`() async throws {
        let daemons = try (0..<3).map { _ in try claims() }
        let winners = try await withThrowingTaskGroup(of: Int?.self) { tasks in
            for number in 0..<600 {
                tasks.addTask {
                    let token = number % 100
                    do {
                        _ = try await daemons[number / 200].claim(Self.claim(token))
                        return token
                    } catch let error as MerchantError where error.code == .tokenAlreadyClaimed { return nil }
                }
            }
            return try await tasks.reduce(into: [Int]()) { if let token = $1 { $0.append(token) } }
        }
        #expect(winners.sorted() == Array(0..<100))
        for daemon in daemons { daemon.close() }
    }

    @Test func `a repeated request is recognized by every daemon, and its Idempotency-Key serves no other`()
        async throws
    {
        let (first, second) = (try claims(), try claims())
        #expect(try await first.claim(Self.claim(1, key: "k")) == .claimed)
        #expect(try await second.claim(Self.claim(1, key: "k", after: 5)) == .repeated(claimedAt: Self.start))
        for (claim, code) in [
            (Self.claim(1), MerchantError.Code.tokenAlreadyClaimed),
            (Self.claim(1, key: "other"), .tokenAlreadyClaimed),
            (Self.claim(1, caller: "uid:1001", key: "k"), .tokenAlreadyClaimed),
            (Self.claim(2, key: "k"), .idempotencyKeyReused),
            (Self.claim(1, key: "k", request: "another"), .idempotencyKeyReused),
        ] {
            #expect(await refusal { _ = try await second.claim(claim) }?.code == code)
        }
        #expect(try await second.claim(of: Self.claim(1).transactionId) == Self.claim(1, key: "k"))
        #expect(try await second.claim(of: Self.claim(2).transactionId) == nil)
    }

    @Test func `an expired claim is removed by later ones, and a younger one is kept`() async throws {
        let claims = try claims()
        _ = try await claims.claim(Self.claim(1))
        _ = try await claims.claim(Self.claim(2, after: 10))
        _ = try await claims.claim(Self.claim(3, after: 3605))
        #expect(try await claims.claim(of: Self.claim(1).transactionId) == nil)
        #expect(try await claims.claim(of: Self.claim(2).transactionId) != nil)
    }

    @Test func `a claim behind the newest claim of another daemon is refused`() async throws {
        let (first, second) = (try claims(), try claims())
        _ = try await first.claim(Self.claim(1, after: 7200))
        let error = await refusal { _ = try await second.claim(Self.claim(2)) }
        #expect(error?.code == .tokenNotVerified)
        #expect(second.clockBehindClaims != nil)
        #expect(try await second.claim(Self.claim(3, after: 5401)) == .claimed)
    }
}
