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

    @Test func `exactly one claim of each token succeeds, even if several daemons claim it`() async throws {
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

    @Test func `claims committed together succeed at most once for each token and Idempotency-Key`() async throws {
        let daemon = try claims()
        defer { daemon.close() }
        // Four requests for each token: two with the same Idempotency-Key, and two with the key of the next token.
        let outcomes = try await withThrowingTaskGroup(of: (token: Int, outcome: String).self) { tasks in
            for number in 0..<400 {
                tasks.addTask {
                    let (token, isOwnKey) = (number / 4, number.isMultiple(of: 2))
                    let key = isOwnKey ? token : (token + 1) % 100
                    do {
                        let outcome = try await daemon.claim(Self.claim(token, key: "key \(key)", request: "\(token)"))
                        return (token, outcome == .claimed ? "claimed" : "repeated")
                    } catch let error as MerchantError { return (token, error.code.rawValue) }
                }
            }
            return try await tasks.reduce(into: [Int: [String]]()) { $0[$1.token, default: []].append($1.outcome) }
        }
        for (token, found) in outcomes {
            #expect(found.count { $0 == "claimed" } <= 1, "\(token): \(found)")
            #expect(found.count { $0 == "repeated" } <= 1, "\(token): \(found)")
        }
        let claimed = outcomes.count { $0.value.contains("claimed") }
        #expect(try database.execute("SELECT count(*) FROM claims") == "\(claimed)")
        #expect(try database.execute("SELECT count(DISTINCT key_digest) FROM claims") == "\(claimed)")
    }

    @Test func `if the database refuses a group of claims, each one is refused, and later ones succeed`() async throws {
        let daemon = try claims()
        defer { daemon.close() }
        func claim(_ tokens: Range<Int>) async -> [MerchantError.Code?] {
            await withTaskGroup(of: MerchantError.Code?.self) { tasks in
                for token in tokens {
                    tasks.addTask { await refusal { _ = try await daemon.claim(Self.claim(token)) }?.code }
                }
                return await tasks.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(await claim(0..<1) == [nil])
        try database.execute("ALTER TABLE claims ADD CONSTRAINT no_seven CHECK (caller <> 'uid:1000') NOT VALID")
        #expect(Set(await claim(1..<40)).isDisjoint(with: [nil]))
        try database.execute("ALTER TABLE claims DROP CONSTRAINT no_seven")
        #expect(await claim(1..<40) == [MerchantError.Code?](repeating: nil, count: 39))
    }

    @Test(arguments: ["claims", "nonces"])
    func `after a failed claim, the ledger is ready again when a trial write into both tables succeeds`(table: String)
        async throws
    {
        let daemon = try claims()
        defer { daemon.close() }
        // Fails as on a full disk. A sequence keeps its value when the transaction is rolled back.
        try database.execute("CREATE SEQUENCE attempts")
        try database.execute(
            """
            CREATE FUNCTION refuse_claims() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN PERFORM nextval('attempts'); RAISE 'full' USING ERRCODE = 'disk_full'; END $$
            """)
        try database.execute(
            "CREATE TRIGGER refuse_claims BEFORE INSERT ON \(table) FOR EACH ROW EXECUTE FUNCTION refuse_claims()")
        let refused = await refusal {
            switch table {
            case "claims": _ = try await daemon.claim(Self.claim(1))
            default:
                try await daemon.claimNonce(
                    NonceClaim(digest: Self.digest("nonce"), caller: "uid:1000", at: Self.start))
            }
        }
        #expect(refused?.code == .storeUnavailable)
        let attempts = try database.execute("SELECT last_value FROM attempts")
        daemon.retryIfImpaired()
        try await eventually { try database.execute("SELECT last_value FROM attempts") != attempts }
        guard case .impaired = daemon.health else {
            Issue.record("the ledger is \(daemon.health)")
            return
        }
        try database.execute("DROP TRIGGER refuse_claims ON \(table)")
        try await eventually {
            daemon.retryIfImpaired()
            return daemon.health == .ready
        }
        #expect(try database.execute("SELECT count(*) FROM claims") == "0")
        #expect(try database.execute("SELECT count(*) FROM nonces") == "0")
        #expect(try await daemon.claim(Self.claim(1)) == .claimed)
    }

    @Test func `every daemon recognizes a repeated request, and refuses its Idempotency-Key for others`()
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

    @Test func `a claim 30 minutes or more before the newest claim of another daemon is refused`() async throws {
        let (first, second) = (try claims(), try claims())
        _ = try await first.claim(Self.claim(1, after: 7200))
        let error = await refusal { _ = try await second.claim(Self.claim(2)) }
        #expect(error?.code == .tokenNotVerified)
        #expect(second.clockBehindClaims != nil)
        #expect(try await second.claim(Self.claim(3, after: 5401)) == .claimed)
        #expect(try await second.claim(of: Self.claim(2).transactionId) == nil)
    }

    @Test func `a refused claim removes no claim, so a clock that is set back later allows no second use`()
        async throws
    {
        let claims = try claims()
        _ = try await claims.claim(Self.claim(1, key: "key"))
        let reused = await refusal { _ = try await claims.claim(Self.claim(2, key: "key", after: 3700)) }
        #expect(reused?.code == .idempotencyKeyReused)
        let again = await refusal { _ = try await claims.claim(Self.claim(1, caller: "uid:1001", after: 240)) }
        #expect(again?.code == .tokenAlreadyClaimed)
    }

    @Test func `expired claims are removed although another daemon has locked some of them`() async throws {
        let claims = try claims()
        for number in 1...6 { _ = try await claims.claim(Self.claim(number)) }
        // One new claim removes two expired claims. Another session locks the two oldest.
        let other = BlockingRun { [database] in
            _ = try? database.execute(
                "BEGIN; SELECT FROM claims ORDER BY id LIMIT 2 FOR UPDATE; SELECT pg_sleep(3600);")
        }
        let session = """
            FROM pg_stat_activity
            WHERE datname = '\(database.name)' AND wait_event = 'PgSleep' AND pid <> pg_backend_pid()
            """
        try await eventually { try database.execute("SELECT count(*) \(session)") == "1" }
        _ = try await claims.claim(Self.claim(7, after: 3601))
        #expect(try database.execute("SELECT string_agg(id::text, ' ' ORDER BY id) FROM claims") == "1 2 5 6 7")
        try database.execute("SELECT pg_terminate_backend(pid) \(session)")
        other.wait()
        // The other session has not removed the two oldest claims, so this claim removes them.
        _ = try await claims.claim(Self.claim(8, after: 3602))
        #expect(try database.execute("SELECT string_agg(id::text, ' ' ORDER BY id) FROM claims") == "5 6 7 8")
    }

    @Test func `the removal of expired claims does not lock younger ones`() async throws {
        let claims = try claims()
        for (number, seconds) in [0, 10, 3605, 3606].enumerated() {
            _ = try await claims.claim(Self.claim(number, after: seconds))
        }
        #expect(try database.execute("SELECT count(*) FROM claims") == "3")
        // A row that was ever locked has the transaction that locked it as its xmax.
        #expect(try database.execute("SELECT count(*) FROM claims WHERE xmax <> 0") == "0")
    }
}
