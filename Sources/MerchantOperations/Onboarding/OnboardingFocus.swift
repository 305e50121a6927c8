import MerchantCore
import Vocabulary

/// The key pair that a merchant's onboarding is about, and which step comes next.
struct OnboardingFocus {
    /// The step that must be done now.
    struct Next {
        let step: OnboardingProgress.StepName
        let waitingFor: RollParty
        let since: Timestamp?
    }

    let facts: OnboardingFacts
    /// The new key pair, or the one in use if nothing must be replaced; nil if a key pair must be generated.
    let key: OnboardingFacts.Key?
    /// The key pair that ``key`` replaces in an open roll; nil if there is none.
    let old: OnboardingFacts.Key?
    /// The open roll whose new key pair is ``key``.
    let roll: Roll?
    /// When the certificate of the key pair that must be replaced expires; nil if nothing must be replaced, or if
    /// ``key`` is current already.
    let deadline: Timestamp?
    /// When the open roll started, or when the renewal of the current key pair became due; nil if neither happened.
    let dueSince: Timestamp?
    /// Whether Apple encrypts to ``key`` outside of a roll, although it is standby: see ``StandbyKeyUse``.
    let isUsedOutsideRoll: Bool

    init(_ facts: OnboardingFacts) {
        self.facts = facts
        let now = facts.time.wall
        let keys = facts.keys.filter { $0.keyPair.purpose == .paymentProcessing }
        func key(_ hash: PublicKeyHash?) -> OnboardingFacts.Key? { keys.first { $0.keyPair.publicKeyHash == hash } }
        let currentKey = Self.longestLasting(keys.filter { $0.keyPair.state == .current })
        let open = facts.rolls.filter(\.isOpen).max { $0.number < $1.number }
        // A standby key pair to which Apple encrypts comes first, unless an open roll has not promoted its new key yet:
        // the activation of the new key at Apple will also end the use of that standby key pair.
        if open.flatMap({ key($0.to) }).map({ $0.keyPair.state == .current }) ?? true,
            let used = Self.usedOutsideRolls(keys, facts.rolls)
        {
            self.key = used
            (old, roll, deadline, dueSince) = (nil, nil, nil, nil)
            isUsedOutsideRoll = true
            return
        }
        isUsedOutsideRoll = false
        if let open, let to = key(open.to) {
            let from = key(open.from)
            self.key = to
            old = from
            roll = open
            deadline = to.keyPair.state == .current ? nil : (from ?? currentKey)?.expiry
            dueSince = open.startedAt
            return
        }
        old = nil
        roll = nil
        guard let current = currentKey else {
            self.key = Self.firstKey(among: keys, at: now)
            deadline = nil
            dueSince = nil
            return
        }
        let renewalTime = current.expiry.map { facts.policy.renewal(of: $0, merchant: facts.merchant.identifier) }
        guard let renewal = renewalTime, renewal <= now else {
            self.key = current
            deadline = nil
            dueSince = nil
            return
        }
        // The schedule starts a roll at this time. Until the schedule has run, show the step that the roll will begin
        // with.
        self.key = Self.successor(of: current, among: keys)
        deadline = current.expiry
        dueSince = renewal
    }

    /// The standby key pair to which Apple encrypts, although it is not the new key pair of an open roll, and whose use
    /// was reported: see ``StandbyKeyUse``. nil if there is none.
    private static func usedOutsideRolls(
        _ keys: [OnboardingFacts.Key], _ rolls: [Roll]
    ) -> OnboardingFacts.Key? {
        func lastDecryption(_ key: OnboardingFacts.Key) -> Timestamp? {
            let hash = key.keyPair.publicKeyHash
            guard key.use?.standbyUseReportedAt != nil, !rolls.contains(where: { $0.isOpen && $0.to == hash })
            else { return nil }
            let current = keys.first { $0.keyPair.state == .current && $0.keyPair.algorithm == key.keyPair.algorithm }
            return StandbyKeyUse.lastDecryption(
                of: key.keyPair, use: key.use, current: current?.keyPair, currentUse: current?.use)
        }
        return keys.compactMap { key in lastDecryption(key).map { (key: key, last: $0) } }
            .max { $0.last < $1.last }?.key
    }

    /// The key pair to onboard if none is current: the one that has the fewest steps left.
    private static func firstKey(among keys: [OnboardingFacts.Key], at now: Timestamp) -> OnboardingFacts.Key? {
        let usable = keys.filter { $0.hasValidCertificate(at: now) }
        return longestLasting(usable.filter { $0.keyPair.state == .standby })
            ?? longestLasting(usable.filter { $0.keyPair.state == .retiring })
            ?? keys.first { $0.keyPair.state == .pending }
    }

    /// The key pair that can replace the current one: one with a certificate that lasts longer, or else the oldest
    /// pending one, because its CSR is the most likely to have been sent to Apple.
    private static func successor(
        of current: OnboardingFacts.Key, among keys: [OnboardingFacts.Key]
    ) -> OnboardingFacts.Key? {
        let lasting = keys.filter { key in
            guard key.keyPair.state == .standby, let expiry = key.expiry, let end = current.expiry else { return false }
            return expiry > end
        }
        return longestLasting(lasting) ?? keys.first { $0.keyPair.state == .pending }
    }

    private static func longestLasting(_ keys: [OnboardingFacts.Key]) -> OnboardingFacts.Key? {
        keys.max {
            ($0.expiry?.millisecondsSince1970 ?? .min, $0.keyPair.createdAt)
                < ($1.expiry?.millisecondsSince1970 ?? .min, $1.keyPair.createdAt)
        }
    }
}

extension OnboardingFocus {
    /// Whether ``key`` replaces an older key pair that is or was in use.
    var replacesKey: Bool { roll?.from != nil || deadline != nil }

    /// Whether a key pair waits for a certificate. After a roll, the key pair for the next roll waits for its
    /// certificate.
    var hasReserveToCertify: Bool { reserve != nil }

    /// The oldest key pair that waits for a certificate.
    private var reserve: KeyPair? {
        facts.keys.map(\.keyPair).first { $0.purpose == .paymentProcessing && $0.state == .pending }
    }

    /// The key pair whose certificate must be uploaded now; nil if there is none.
    var awaitedKey: PublicKeyHash? {
        guard let next else { return reserve?.publicKeyHash }
        return next.step == .appleCertificate ? key?.keyPair.publicKeyHash : nil
    }

    /// The step that must be done now; nil if all steps are done.
    var next: Next? {
        guard let key else { return Next(step: .keyPair, waitingFor: .merchant, since: missingSince) }
        let party = RollLifecycle.partyBeforePromotion(of: key.keyPair, use: key.use) ?? .merchant
        switch key.keyPair.state {
        // Neither occurs: the new key pair of an open roll is not revoked.
        case .revoked, .destroyed: return Next(step: .keyPair, waitingFor: party, since: missingSince)
        case .pending: return Next(step: .appleCertificate, waitingFor: party, since: reached(key))
        case .standby, .retiring:
            guard let token = tokenBeforePromotion else {
                return Next(step: .activation, waitingFor: party, since: reached(key))
            }
            // Tokens arrive, but only an admin can promote the key. The daemon starts no roll to replace a key that is
            // not promoted, so the onboarding is not complete.
            return Next(step: .oldKeyQuiet, waitingFor: party, since: token)
        case .current:
            guard let confirmed = key.use?.promotionConfirmedAt else {
                return Next(step: .firstPayment, waitingFor: .apple, since: key.keyPair.stateSince)
            }
            guard let progress = rollProgress else { return nil }
            return progress.state == .quiet
                ? Next(step: .done, waitingFor: progress.waitingFor, since: progress.quietAt ?? confirmed)
                : Next(
                    step: .oldKeyQuiet, waitingFor: progress.waitingFor,
                    since: max(confirmed, key.keyPair.stateSince))
        }
    }

    /// When a step that is done became done; nil if this is unknown.
    func doneAt(_ step: OnboardingProgress.StepName) -> Timestamp? {
        guard let key else { return nil }
        let payment = key.use?.promotionConfirmedAt ?? tokenBeforePromotion
        switch step {
        case .keyPair: return key.keyPair.createdAt
        case .appleCertificate:
            // Apple's certificates are valid from the time of issue.
            guard let first = key.certificates.min(by: { $0.storedAt < $1.storedAt }) else { return nil }
            return min(max(first.notBefore, key.keyPair.createdAt), first.storedAt)
        case .upload: return key.certificates.map(\.storedAt).min()
        case .activation:
            let promotion = key.keyPair.state == .current ? key.keyPair.stateSince : nil
            return [promotion, payment].compactMap(\.self).min()
        case .firstPayment: return payment
        case .oldKeyQuiet, .done:
            return rollProgress?.quietAt ?? [payment, finishedRoll?.endedAt].compactMap(\.self).max()
        }
    }

    /// The time by which a step that is not done should be done; nil if there is no such time, or if it is unknown yet.
    func until(_ step: OnboardingProgress.StepName) -> Timestamp? {
        switch step {
        case .keyPair, .appleCertificate, .upload, .activation: deadline
        case .oldKeyQuiet: rollProgress?.quietAt
        case .firstPayment, .done: nil
        }
    }

    /// Who must act in a step that comes after the next one.
    func laterParty(_ step: OnboardingProgress.StepName) -> RollParty {
        switch step {
        case .keyPair, .appleCertificate, .upload, .activation: .merchant
        case .firstPayment: .apple
        case .oldKeyQuiet: replacesKey ? .time : .none
        case .done: replacesKey ? (facts.policy.finishesWhenQuiet ? .time : .admin) : .none
        }
    }

    /// The state of the open roll.
    var rollProgress: RollProgress? {
        guard let roll, let key else { return nil }
        return RollLifecycle.progress(
            of: roll, from: old?.keyPair, fromUse: old?.use, to: key.keyPair, toUse: key.use, policy: facts.policy,
            at: facts.time.earliest)
    }

    /// When a key pair with a certificate was last revoked or destroyed; nil if there is no such key pair, or if a key
    /// pair must be replaced. Used only if no usable key pair is left.
    var revokedSince: Timestamp? {
        guard deadline == nil else { return nil }
        return facts.keys.filter { key in
            key.keyPair.purpose == .paymentProcessing && [.revoked, .destroyed].contains(key.keyPair.state)
                && !key.certificates.isEmpty
        }.map(\.keyPair.stateSince).max()
    }

    private var missingSince: Timestamp? { dueSince ?? revokedSince ?? facts.merchant.createdAt }

    /// When the key pair reached its present step, or when its replacement became due, whichever is later.
    private func reached(_ key: OnboardingFacts.Key) -> Timestamp {
        [key.keyPair.stateSince, dueSince].compactMap(\.self).max() ?? key.keyPair.stateSince
    }

    /// The first token for a new key pair that is not promoted yet. Tokens for a key pair that was current before do
    /// not count: they may be late tokens.
    private var tokenBeforePromotion: Timestamp? {
        guard let key, key.keyPair.state == .standby else { return nil }
        return key.use?.firstDecryption(inStateOf: key.keyPair)
    }

    /// The finished roll whose new key pair is ``key``.
    private var finishedRoll: Roll? {
        facts.rolls.first { $0.outcome == .finished && $0.to == key?.keyPair.publicKeyHash }
    }
}
