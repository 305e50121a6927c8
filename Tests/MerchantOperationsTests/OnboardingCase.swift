import MerchantCore
import MerchantOperations
import Testing
import Vocabulary

/// The key pairs and rolls of a merchant, and the step that must come next. Times are days from ``now``,
/// negative for the past.
struct OnboardingCase: CustomTestStringConvertible, Sendable {
    static let now = Timestamp(millisecondsSince1970: 1_795_237_200_000)

    let testDescription: String
    let facts: OnboardingFacts
    /// nil if all steps are done.
    let next: OnboardingProgress.StepName?
    let party: RollParty
    let since: Timestamp?
    /// A part of the text of the next step, or of the last one if all are done; empty if the test does not check it.
    let text: String

    /// - Parameters:
    ///   - since: the day on which `next` became the next step.
    ///   - time: the same as a `Timestamp`. If it is given, `since` is ignored.
    init(
        _ description: String, _ keys: [OnboardingFacts.Key], _ rolls: [Roll] = [],
        next: OnboardingProgress.StepName?, _ party: RollParty = .none, since: Double? = nil,
        at time: Timestamp? = nil, text: String = "", finishesWhenQuiet: Bool = false, promotes: Bool = true
    ) {
        testDescription = description
        var policy = RollPolicy()
        policy.finishesWhenQuiet = finishesWhenQuiet
        policy.promotesOnFirstDecryption = promotes
        facts = OnboardingFacts(
            merchant: Merchant(identifier: Bench.shop, name: "Shop", createdAt: Self.day(-400)), keys: keys,
            rolls: rolls, policy: policy, time: ClockReading(Self.now))
        self.next = next
        self.party = party
        self.since = time ?? since.map(Self.day)
        self.text = text
    }

    static func day(_ number: Double) -> Timestamp { now.adding(.milliseconds(Int64(number * 86_400_000))) }

    static func hash(_ number: UInt8) -> PublicKeyHash { PublicKeyHash(of: [number]) }

    /// - Parameters:
    ///   - certificate: the first and the last day of its validity.
    ///   - tokens: the days of the first and the last decryption.
    ///   - confirmed: the day of the first decryption since the promotion.
    ///   - requested: the day of the last request.
    ///   - reported: the day on which an event reported the use of the standby key pair.
    static func key(
        _ number: UInt8, _ state: KeyState, created: Double? = nil, since: Double,
        certificate: (Double, Double)? = nil, tokens: (Double, Double)? = nil, confirmed: Double? = nil,
        requested: Double? = nil, exported: Double? = nil, reported: Double? = nil,
        purpose: KeyPurpose = .paymentProcessing
    ) -> OnboardingFacts.Key {
        let created = created ?? min(since, certificate?.0 ?? since) - 1
        let keyPair = KeyPair(
            publicKeyHash: hash(number), merchantIdentifier: Bench.shop, algorithm: .ecV1, purpose: purpose,
            origin: .generated, state: state, createdAt: day(created), stateSince: day(since),
            exportedAt: exported.map(day))
        let certificates = certificate.map { validity in
            [
                StoredCertificate(
                    der: [number], fingerprint: [number], serialNumber: "0\(number)", subject: "CN=Shop",
                    issuer: "CN=Apple", notBefore: day(validity.0), notAfter: day(validity.1), issuerVerified: true,
                    storedAt: day(max(validity.0, created)))
            ]
        }
        let range = tokens ?? confirmed.map { ($0, $0) }
        let use = KeyUse(
            requests: requested.map { Occurrences(count: 1, first: day($0), last: day($0)) },
            decryptions: range.map { Occurrences(count: 2, first: day($0.0), last: day($0.1)) },
            promotionConfirmedAt: confirmed.map(day), standbyUseReportedAt: reported.map(day))
        return OnboardingFacts.Key(keyPair, certificates: certificates ?? [], use: use)
    }

    static func roll(
        _ number: Int, from: UInt8?, to: UInt8, started: Double, outcome: Roll.Outcome? = nil, ended: Double? = nil
    ) -> Roll {
        Roll(
            number: number, merchantIdentifier: Bench.shop, algorithm: .ecV1, from: from.map(hash), to: hash(to),
            startedAt: day(started), outcome: outcome, endedAt: ended.map(day))
    }
}

extension OnboardingCase {
    static let all = firstKeyCases + replacementCases + renewalCases

    private static let firstKeyCases: [OnboardingCase] = [
        OnboardingCase(
            "new merchant", [], next: .keyPair, .merchant, since: -400, text: "Create a key pair to get"),
        OnboardingCase(
            "only an identity key pair",
            [key(1, .current, since: -10, certificate: (-10, 700), purpose: .identity)], next: .keyPair, .merchant,
            since: -400),
        OnboardingCase(
            "CSR waits for Apple", [key(1, .pending, created: -3, since: -3)], next: .appleCertificate, .merchant,
            since: -3, text: "Apple Developer account"),
        OnboardingCase(
            "certificate stored, not activated", [key(1, .standby, since: -2, certificate: (-2, 758))],
            next: .activation, .merchant, since: -2, text: "Activate the new certificate"),
        OnboardingCase(
            "certificate stored, an admin must promote", [key(1, .standby, since: -2, certificate: (-2, 758))],
            next: .activation, .merchant, since: -2, text: "tell your payment provider", promotes: false),
        OnboardingCase(
            "promoted, no payment yet", [key(1, .current, since: -1, certificate: (-2, 758))], next: .firstPayment,
            .apple, since: -1, text: "the first payment will show"),
        OnboardingCase(
            "first payment with a key that nobody promoted",
            [key(1, .standby, since: -2, certificate: (-2, 758), tokens: (-1, -0.5))], next: .oldKeyQuiet, .admin,
            since: -1, text: "must now confirm"),
        OnboardingCase(
            "a token from before the restore of the key does not count",
            [key(1, .standby, since: -2, certificate: (-90, 700), tokens: (-60, -50))], next: .activation, .merchant,
            since: -2),
        OnboardingCase(
            "first payment seen", [key(1, .current, since: -2, certificate: (-3, 757), confirmed: -1)], next: nil,
            text: "valid until 2028-12-17"),
        OnboardingCase(
            "first roll, CSR waits for Apple", [key(1, .pending, created: -9, since: -9)],
            [roll(1, from: nil, to: 1, started: -4)], next: .appleCertificate, .merchant, since: -4),
    ]

    private static let old = key(1, .current, since: -700, certificate: (-700, 60), confirmed: -699, requested: -0.1)

    private static func retiring(requested: Double, exported: Double? = nil) -> OnboardingFacts.Key {
        key(
            1, .retiring, since: -20, certificate: (-700, 60), tokens: (-699, requested), requested: requested,
            exported: exported)
    }

    private static let openRoll = roll(7, from: 1, to: 2, started: -30)

    private static let replacementCases: [OnboardingCase] = [
        OnboardingCase(
            "roll started", [old, key(2, .pending, created: -200, since: -200)], [openRoll], next: .appleCertificate,
            .merchant, since: -30, text: "before 2027-01-20"),
        OnboardingCase(
            "roll with a stored certificate", [old, key(2, .standby, since: -25, certificate: (-25, 735))], [openRoll],
            next: .activation, .merchant, since: -25, text: "before 2027-01-20"),
        OnboardingCase(
            "roll whose new key gets tokens, but is not promoted automatically",
            [old, key(2, .standby, since: -25, certificate: (-25, 735), tokens: (-5, -1))], [openRoll],
            next: .oldKeyQuiet, .admin, since: -5, text: "must now confirm", promotes: false),
        OnboardingCase(
            "roll promoted, no payment yet",
            [retiring(requested: -1), key(2, .current, since: -20, certificate: (-25, 735))], [openRoll],
            next: .firstPayment, .apple, since: -20),
        OnboardingCase(
            "roll whose old key is in use",
            [retiring(requested: -2), key(2, .current, since: -20, certificate: (-25, 735), confirmed: -19)],
            [openRoll],
            next: .oldKeyQuiet, .time, since: -19, text: "done on 2026-11-26"),
        OnboardingCase(
            "roll whose old key was exported",
            [
                retiring(requested: -9, exported: -100),
                key(2, .current, since: -20, certificate: (-25, 735), confirmed: -19),
            ], [openRoll], next: .oldKeyQuiet, .admin, since: -19, text: "no longer used elsewhere"),
        OnboardingCase(
            "old key quiet",
            [retiring(requested: -9), key(2, .current, since: -20, certificate: (-25, 735), confirmed: -19)],
            [openRoll],
            next: .done, .admin, since: -2, text: "your payment provider will switch off"),
        OnboardingCase(
            "old key quiet, and the daemon finishes the roll itself",
            [retiring(requested: -9), key(2, .current, since: -20, certificate: (-25, 735), confirmed: -19)],
            [openRoll],
            next: .done, .time, since: -2, text: "automatically", finishesWhenQuiet: true),
        OnboardingCase(
            "roll finished",
            [
                key(1, .revoked, since: -3, certificate: (-700, 60)),
                key(2, .current, since: -20, certificate: (-25, 735), confirmed: -19),
                key(3, .pending, created: -3, since: -3),
            ], [roll(7, from: 1, to: 2, started: -30, outcome: .finished, ended: -3)], next: nil,
            text: "The key pair for your next certificate exists"),
        OnboardingCase(
            "roll finished, and the next key pair has its certificate",
            [
                key(1, .revoked, since: -3, certificate: (-700, 60)),
                key(2, .current, since: -20, certificate: (-25, 735), confirmed: -19),
                key(3, .standby, created: -3, since: -1, certificate: (-1, 759)),
            ], [roll(7, from: 1, to: 2, started: -30, outcome: .finished, ended: -3)], next: nil,
            text: "There is nothing to do now"),
        OnboardingCase(
            "reserve key in use at Apple",
            [
                key(2, .current, since: -20, certificate: (-25, 735), confirmed: -19),
                key(3, .standby, created: -3, since: -3, certificate: (-3, 757), tokens: (-2, -1), reported: -2),
            ], next: .oldKeyQuiet, .admin, since: -2, text: "has not confirmed yet"),
        OnboardingCase(
            "reserve key was in use at Apple, and the current key is again",
            [
                key(2, .current, since: -20, certificate: (-25, 735), tokens: (-19, -0.5), confirmed: -19),
                key(3, .standby, created: -3, since: -3, certificate: (-3, 757), tokens: (-2, -1), reported: -2),
            ], next: nil, text: "There is nothing to do now"),
        OnboardingCase(
            "another key is in use at Apple during a roll: the activation for the roll ends that use",
            [
                old, key(2, .standby, since: -25, certificate: (-25, 735)),
                key(3, .standby, created: -3, since: -3, certificate: (-3, 757), tokens: (-2, -1), reported: -2),
            ], [openRoll], next: .activation, .merchant, since: -25),
        OnboardingCase(
            "Apple uses another key than the promoted key of a roll",
            [
                retiring(requested: -9), key(2, .current, since: -20, certificate: (-25, 735), confirmed: -19),
                key(3, .standby, created: -3, since: -3, certificate: (-3, 757), tokens: (-2, -1), reported: -2),
            ], [openRoll], next: .oldKeyQuiet, .admin, since: -2, text: "has not confirmed yet"),
        OnboardingCase(
            "the promotion was undone: the old key is current again",
            [
                key(1, .current, since: -2, certificate: (-700, 60), confirmed: -1),
                key(2, .retiring, since: -2, certificate: (-25, 735), tokens: (-19, -3)),
            ], [openRoll], next: .activation, .merchant, since: -2),
    ]

    private static let policy = RollPolicy()

    /// Returns the time at which the renewal of a certificate that expires on the day `expiry` is due.
    private static func renewalTime(of expiry: Double) -> Timestamp {
        policy.renewal(of: day(expiry), merchant: Bench.shop)
    }

    private static let renewalCases: [OnboardingCase] = [
        OnboardingCase(
            "certificate about to end", [key(1, .current, since: -700, certificate: (-710, 50), confirmed: -699)], [],
            next: .keyPair, .merchant, at: renewalTime(of: 50), text: "Your certificate ends on 2027-01-10"),
        OnboardingCase(
            "certificate about to end, and a CSR exists",
            [
                key(1, .current, since: -700, certificate: (-710, 50), confirmed: -699),
                key(2, .pending, created: -600, since: -600),
            ], [], next: .appleCertificate, .merchant, at: renewalTime(of: 50), text: "before 2027-01-10"),
        OnboardingCase(
            "certificate about to end, and another key has a certificate",
            [
                key(1, .current, since: -700, certificate: (-710, 50), confirmed: -699),
                key(2, .standby, created: -600, since: -1, certificate: (-1, 759)),
            ], [], next: .activation, .merchant, since: -1),
        OnboardingCase(
            "certificate ended", [key(1, .current, since: -700, certificate: (-761, -1), confirmed: -699)], [],
            next: .keyPair, .merchant, at: renewalTime(of: -1), text: "Your certificate ended on 2026-11-20"),
        OnboardingCase(
            "key revoked", [key(1, .revoked, since: -2, certificate: (-100, 660))], next: .keyPair, .merchant,
            since: -2, text: "switched off on 2026-11-19"),
        OnboardingCase(
            "key revoked, and a CSR exists",
            [key(1, .revoked, since: -2, certificate: (-100, 660)), key(2, .pending, created: -50, since: -50)],
            next: .appleCertificate, .merchant, since: -50),
        OnboardingCase(
            "the current key was revoked, and the key before it is retiring",
            [
                key(1, .retiring, since: -20, certificate: (-600, 160)),
                key(2, .revoked, since: -2, certificate: (-25, 735)),
            ], next: .activation, .merchant, since: -20),
        OnboardingCase(
            "all keys destroyed", [key(1, .destroyed, since: -2, certificate: (-100, 660))], next: .keyPair, .merchant,
            since: -2),
    ]
}
