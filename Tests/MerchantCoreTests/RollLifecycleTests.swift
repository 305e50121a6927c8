import MerchantCore
import Testing
import Vocabulary

/// The state and the outcome of a roll, which follow from the states and uses of its two key pairs.
@Suite struct RollLifecycleTests {
    static let now = Timestamp(millisecondsSince1970: 1_800_000_000_000)
    static let day = Duration.seconds(86_400)
    // swift-format-ignore: NeverForceUnwrap
    static let merchant = MerchantIdentifier("merchant.com.example")!
    static let old = PublicKeyHash(of: [1])
    static let new = PublicKeyHash(of: [2])

    static func keyPair(_ hash: PublicKeyHash, _ state: KeyState, daysAgo: Int = 20, exported: Bool = false) -> KeyPair
    {
        KeyPair(
            publicKeyHash: hash, merchantIdentifier: merchant, algorithm: .ecV1, purpose: .paymentProcessing,
            origin: .generated, state: state, createdAt: now.adding(day * -100),
            stateSince: now.adding(day * -daysAgo), exportedAt: exported ? now.adding(day * -50) : nil)
    }

    static func seen(daysAgo: Int, first: Int? = nil) -> Occurrences {
        Occurrences(count: 2, first: now.adding(day * -(first ?? daysAgo)), last: now.adding(day * -daysAgo))
    }

    /// A use with a successful decryption since the promotion.
    static func confirmed(daysAgo: Int, first: Int? = nil) -> KeyUse {
        let decryptions = seen(daysAgo: daysAgo, first: first)
        return KeyUse(decryptions: decryptions, promotionConfirmedAt: decryptions.first)
    }

    static let roll = Roll(
        number: 7, merchantIdentifier: merchant, algorithm: .ecV1, from: old, to: new,
        startedAt: now.adding(day * -30))

    static func progress(
        from: KeyPair? = keyPair(old, .retiring), fromUse: KeyUse? = nil, to: KeyPair = keyPair(new, .current),
        toUse: KeyUse? = nil, finishes: Bool = false
    ) -> RollProgress {
        var policy = RollPolicy()
        policy.finishesWhenQuiet = finishes
        return RollLifecycle.progress(
            of: roll, from: from, fromUse: fromUse, to: to, toUse: toUse, policy: policy, at: now)
    }

    @Test(arguments: KeyState.allCases, KeyState.allCases.map { Optional($0) } + [nil])
    func `a roll ends exactly when its new key is revoked or destroyed, or is current and no old key is in use`(
        to: KeyState, from: KeyState?
    ) {
        let oldIsInUse = from == .pending || from == .standby || from == .current || from == .retiring
        let expected: Roll.Outcome? =
            to == .revoked || to == .destroyed ? .abandoned : to == .current && !oldIsInUse ? .finished : nil
        #expect(RollLifecycle.outcome(from: from, to: to) == expected)
    }

    @Test func `each state names the party that must act`() {
        let decryptions = Self.confirmed(daysAgo: 9)
        #expect(Self.progress(to: Self.keyPair(Self.new, .pending)).waitingFor == .merchant)
        let stored = Self.progress(from: Self.keyPair(Self.old, .current), to: Self.keyPair(Self.new, .standby))
        #expect(stored.state == .certificateStored && stored.waitingFor == .merchant)
        let unpromoted = Self.progress(
            from: Self.keyPair(Self.old, .current), to: Self.keyPair(Self.new, .standby),
            toUse: KeyUse(decryptions: Self.seen(daysAgo: 0)))
        #expect(unpromoted.state == .certificateStored && unpromoted.waitingFor == .admin)
        let undone = Self.progress(from: Self.keyPair(Self.old, .current), to: Self.keyPair(Self.new, .retiring))
        #expect(undone.state == .certificateStored && undone.waitingFor == .merchant)
        let unconfirmed = Self.progress()
        #expect(unconfirmed.state == .promoted && unconfirmed.waitingFor == .apple && unconfirmed.quietAt == nil)
        let busy = Self.progress(fromUse: KeyUse(requests: Self.seen(daysAgo: 6)), toUse: decryptions)
        #expect(busy.state == .promoted && busy.waitingFor == .time)
        #expect(busy.quietAt == Self.now.adding(Self.day))
        let quiet = Self.progress(fromUse: KeyUse(requests: Self.seen(daysAgo: 7)), toUse: decryptions)
        #expect(quiet.state == .quiet && quiet.waitingFor == .admin && quiet.since == Self.now)
        #expect(Self.progress(toUse: decryptions, finishes: true).waitingFor == .time)
        var ended = Self.roll
        ended.outcome = .finished
        ended.endedAt = Self.now
        let finished = RollLifecycle.progress(
            of: ended, from: nil, fromUse: nil, to: Self.keyPair(Self.new, .current), toUse: nil, policy: RollPolicy(),
            at: Self.now)
        #expect(finished.state == .finished && finished.waitingFor == .none && finished.next == nil)
    }

    @Test func `a roll of an exported key never becomes quiet by itself`() {
        let progress = Self.progress(
            from: Self.keyPair(Self.old, .retiring, exported: true), toUse: Self.confirmed(daysAgo: 15))
        #expect(progress.state == .promoted && progress.waitingFor == .admin && progress.quietAt == nil)
        #expect(progress.next?.contains("exported") == true)
    }

    @Test func `a roll is quiet only after a decryption with the new key and the whole quiet period`() {
        #expect(Self.progress(toUse: KeyUse(requests: Self.seen(daysAgo: 1))).state == .promoted)
        for (asked, state) in [(0, RollState.promoted), (6, .promoted), (7, .quiet), (8, .quiet)] {
            let progress = Self.progress(
                fromUse: KeyUse(requests: Self.seen(daysAgo: asked, first: 40)),
                toUse: Self.confirmed(daysAgo: 1, first: 10))
            #expect(progress.state == state, "requested \(asked) days ago")
        }
        // A decryption with the old key restarts the quiet period, as a request does.
        let decryptions = Self.progress(
            fromUse: KeyUse(requests: Self.seen(daysAgo: 30), decryptions: Self.seen(daysAgo: 2)),
            toUse: Self.confirmed(daysAgo: 1, first: 10))
        #expect(decryptions.state == .promoted)
        // The old key became retiring just now, so the quiet period begins now.
        let restored = Self.progress(
            from: Self.keyPair(Self.old, .retiring, daysAgo: 0), toUse: Self.confirmed(daysAgo: 9))
        #expect(restored.state == .promoted)
    }

    @Test func `only a decryption after the promotion makes a roll quiet, and the first such decryption counts`() {
        let progress = Self.progress(toUse: KeyUse(decryptions: Self.seen(daysAgo: 21, first: 60)))
        #expect(progress.state == .promoted && progress.waitingFor == .apple && progress.quietAt == nil)
        let confirmed = KeyUse(
            decryptions: Self.seen(daysAgo: 1, first: 60), promotionConfirmedAt: Self.now.adding(Self.day * -3))
        let quiet = Self.progress(toUse: confirmed)
        #expect(quiet.state == .quiet && quiet.quietAt == Self.now.adding(Self.day * -3))
    }

    @Test func `only a decryption since its promotion confirms a current key`() {
        let current = Self.keyPair(Self.new, .current, daysAgo: 20)
        func confirmation(_ keyPair: KeyPair, first: Int, last: Int) -> Timestamp? {
            var use = KeyUse()
            use.confirmPromotion(of: keyPair, by: Self.seen(daysAgo: last, first: first))
            return use.promotionConfirmedAt
        }
        #expect(confirmation(current, first: 30, last: 21) == nil)
        #expect(confirmation(current, first: 30, last: 19) == Self.now.adding(Self.day * -19))
        #expect(confirmation(current, first: 19, last: 2) == Self.now.adding(Self.day * -19))
        for state in KeyState.allCases where state != .current {
            #expect(confirmation(Self.keyPair(Self.new, state), first: 19, last: 2) == nil)
        }
        var use = Self.confirmed(daysAgo: 9)
        use.confirmPromotion(of: current, by: Self.seen(daysAgo: 1))
        #expect(use.promotionConfirmedAt == Self.now.adding(Self.day * -9), "the first confirmation is kept")
    }

    @Test func `a merchant's renewal time is always the same and within the spread, and merchants differ`() throws {
        let policy = RollPolicy()
        var times: Set<Timestamp> = []
        for number in 0..<200 {
            let merchant = try #require(MerchantIdentifier("merchant.com.example.m\(number)"))
            let time = policy.renewal(of: Self.now, merchant: merchant)
            #expect(time == policy.renewal(of: Self.now, merchant: merchant))
            #expect(Self.now.adding(Self.day * -74) < time && time <= Self.now.adding(Self.day * -60))
            times.insert(time)
        }
        #expect(times.count == 200)
    }

    @Test func `each threshold raises one warning, but of several missed thresholds only the latest does`() {
        func due(_ days: Int) -> Int? { ExpiryWarning.due(expiry: Self.now.adding(Self.day * days), at: Self.now) }
        #expect(
            [61, 60, 59, 31, 30, 16, 15, 8, 7, 2, 1, 0, -1, -900].map(due) == [
                nil, 60, 60, 60, 30, 30, 15, 15, 7, 7, 1, 0, 0, 0,
            ])
        let ends = Self.now.adding(Self.day * 61)
        var times: [Int64] = []
        var time = Self.now
        while let next = ExpiryWarning.next(expiry: ends, after: time) {
            times.append((ends.millisecondsSince1970 - next.millisecondsSince1970) / 86_400_000)
            time = next
        }
        #expect(times.map(Int.init) == ExpiryWarning.thresholds)
    }
}

/// The choice of a roll's new key pair.
@Suite struct SuccessorChoiceTests {
    static let now = RollLifecycleTests.now
    static let day = RollLifecycleTests.day

    static func candidate(_ seed: UInt8, _ state: KeyState, begins: Int = 0, ends: Int = 700)
        -> (keyPair: KeyPair, certificate: StoredCertificate?)
    {
        (
            RollLifecycleTests.keyPair(PublicKeyHash(of: [seed]), state),
            state == .pending ? nil : certificate(begins: begins, ends: ends)
        )
    }

    static func certificate(begins: Int, ends: Int) -> StoredCertificate {
        StoredCertificate(
            der: [1], fingerprint: [1], serialNumber: "01", subject: "s", issuer: "i",
            notBefore: now.adding(day * begins), notAfter: now.adding(day * ends), issuerVerified: true, storedAt: now)
    }

    func choice(_ candidates: [(keyPair: KeyPair, certificate: StoredCertificate?)]) -> PublicKeyHash? {
        SuccessorChoice.choose(
            among: candidates, current: Self.certificate(begins: -600, ends: 100),
            earliestExpiry: Self.now.adding(Self.day * 74))?.publicKeyHash
    }

    @Test func `a standby key valid for long enough is preferred to a pending key, and a pending key to a new one`() {
        let ready = Self.candidate(1, .standby)
        let longer = Self.candidate(2, .standby, ends: 701)
        let pending = [Self.candidate(3, .pending), Self.candidate(4, .pending)]
        #expect(choice(pending + [ready, longer]) == longer.keyPair.publicKeyHash)
        #expect(choice(pending) == pending[0].keyPair.publicKeyHash)
        #expect(choice([]) == nil)
    }

    @Test func `a key whose certificate is not newer than the current one, or expires too soon, is no successor`() {
        #expect(choice([Self.candidate(1, .standby, begins: -600, ends: 700)]) == nil)
        #expect(choice([Self.candidate(1, .standby, begins: -1, ends: 74)]) == nil)
        #expect(choice([Self.candidate(1, .standby, begins: -1, ends: 75)]) != nil)
    }
}
