import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

/// The findings of `status` about certificates and targets, on the real store.
@Suite struct StatusTests {
    static let day = Duration.seconds(86_400)
    let real: RealStore

    init() throws { real = try RealStore() }

    func finding(_ code: StatusFinding.Code) async throws -> StatusFinding? {
        let findings = try await real.operations.monitoring.status().findings.filter { $0.code == code }
        #expect(findings.count <= 1)
        return findings.first
    }

    /// Another key pair for the merchant, `standby`.
    func standby(_ merchant: MerchantIdentifier, days: Int) async throws -> PublicKeyHash {
        let hash = try await real.operations.keys.generateKeyPair(
            for: merchant, algorithm: .ecV1, purpose: .paymentProcessing, for: RealStore.request
        ).keyPair.publicKeyHash
        try await real.certify(hash, of: merchant, days: days)
        return hash
    }

    @Test func `the severity of an expiry never falls; a current key has at least that of a key with the same expiry`()
        async throws
    {
        let merchant = RealStore.merchant(1)
        let current = try await real.onboard(merchant, days: 90)
        let other = try await standby(merchant, days: 90)
        var before: [PublicKeyHash: Severity] = [:]
        var seen: [PublicKeyHash: [Severity]] = [:]
        for day in 0..<120 {
            let findings = try await real.operations.monitoring.status().findings
            let items = findings.filter { $0.code == .certificateExpiring || $0.code == .certificateExpired }
                .flatMap(\.mostUrgent)
            var severities: [PublicKeyHash: Severity] = [:]
            for item in items { severities[try #require(item.publicKeyHash)] = item.severity }
            for hash in [current, other] where before[hash] != severities[hash] {
                let severity = try #require(severities[hash], "day \(day)")
                #expect(before[hash].map { $0 < severity } ?? true, "day \(day)")
                seen[hash, default: []].append(severity)
            }
            if let left = severities[current], let right = severities[other] { #expect(left >= right, "day \(day)") }
            before = severities
            real.clock.advance(by: Self.day)
        }
        #expect(seen[current] == [.notice, .warning, .critical])
        #expect(seen[other] == [.notice, .warning])
        let ended = try #require(try await finding(.certificateExpired))
        #expect(ended.severity == .critical && ended.counts == [.critical: 1, .warning: 1])
        #expect(try await finding(.certificateExpiring) == nil)
    }

    @Test func `events and status have the same severity at every threshold`() {
        let ends = real.clock.now
        for state in [KeyState.standby, .current, .retiring] {
            let severities = ExpiryWarning.thresholds.map {
                ExpirySeverity.severity(expiry: ends, state: state, at: ends.adding(Self.day * -$0))
            }
            #expect(
                severities
                    == (state == .current
                        ? [.notice, .warning, .warning, .critical, .critical, .critical]
                        : [.notice, .notice, .warning, .warning, .warning, .warning]))
            #expect(
                ExpirySeverity.severity(expiry: ends, state: state, at: ends.adding(Self.day * 900)) == severities.last)
            #expect(ExpirySeverity.severity(expiry: ends, state: state, at: ends.adding(Self.day * -61)) == nil)
        }
    }

    @Test func `status has one finding of each code, with the total number and the most urgent subjects first`()
        async throws
    {
        // Of 110 current keys, 107 expire in 40 days and 3 in 5 days. Every merchant is below its target.
        for number in 0..<110 { _ = try await real.onboard(RealStore.merchant(number), days: number < 107 ? 40 : 5) }
        for number in 110..<130 {
            _ = try await real.operations.merchants.addMerchant(
                RealStore.merchant(number), name: nil, targetActiveKeyPairs: nil, for: RealStore.request)
        }
        let ending = try #require(try await finding(.certificateExpiring))
        #expect(ending.count == 110 && ending.severity == .critical)
        #expect(ending.counts.filter { $0.value > 0 } == [.critical: 3, .notice: 107])
        #expect(ending.mostUrgent.map(\.severity) == [.critical, .critical, .critical, .notice, .notice])
        let below = try #require(try await finding(.belowTarget))
        #expect(below.count == 130 && below.severity == .critical)
        #expect(below.counts == [.critical: 3, .warning: 107, .notice: 20])
        #expect(below.mostUrgent.map(\.severity) == [.critical, .critical, .critical, .warning, .warning])
        #expect(
            Set(below.mostUrgent.prefix(3).compactMap(\.merchantIdentifier)) == Set((107..<110).map(RealStore.merchant))
        )
        let codes = try await real.operations.monitoring.status().findings.map(\.code)
        #expect(Set(codes).count == codes.count)
    }

    @Test func `the expiry of a current key is listed before that of another key that expires sooner`() async throws {
        let merchant = RealStore.merchant(1)
        let current = try await real.onboard(merchant, days: 6)
        var others: [PublicKeyHash] = []
        for days in 1...5 { others.append(try await standby(merchant, days: days)) }
        let ending = try #require(try await finding(.certificateExpiring))
        #expect(ending.count == 6 && ending.counts == [.critical: 1, .warning: 5, .notice: 0])
        #expect(ending.mostUrgent.map(\.publicKeyHash) == [current] + others.prefix(4))
    }

    @Test func `a merchant that lost its last active key is critical, a new merchant is not`() async throws {
        let (old, new) = (RealStore.merchant(1), RealStore.merchant(2))
        let hash = try await real.onboard(old, days: 5)
        _ = try await real.operations.merchants.addMerchant(
            new, name: nil, targetActiveKeyPairs: nil, for: RealStore.request)
        #expect(try await finding(.belowTarget)?.counts == [.critical: 1, .warning: 0, .notice: 1])
        _ = try await real.operations.transitions.revoke(
            hash, reason: "compromised", dryRun: false, for: RealStore.request)
        let below = try #require(try await finding(.belowTarget))
        #expect(below.counts == [.critical: 1, .warning: 0, .notice: 1])
        #expect(below.mostUrgent.map(\.merchantIdentifier) == [old, new])
        _ = try await real.operations.transitions.restore(hash, dryRun: false, for: RealStore.request)
        #expect(try await finding(.belowTarget)?.severity == .notice)
    }
}
