package import MerchantCore
package import Vocabulary

/// How far the onboarding of a merchant is, or the replacement of its key pair: both have the same steps.
///
/// The states of the steps follow from the merchant's key pairs, certificates, observed uses and rolls, and are not
/// stored. The daemon does not see what happens at Apple, so two steps become done only when the daemon sees their
/// effect:
///
/// - `appleCertificate` and `upload` become done together, when the certificate is stored. Until then,
///   `appleCertificate` is the next step, because the merchant must act at Apple first, and `upload` waits behind it.
/// - `activation` becomes done when the new key pair is promoted, or when the first token for it is decrypted.
package struct OnboardingProgress: Hashable, Sendable {
    /// The steps in order. The raw values are the names in the API.
    package enum StepName: String, Sendable, CaseIterable {
        /// The key pair and its CSR are generated.
        case keyPair
        /// Apple signs the CSR.
        case appleCertificate
        /// The certificate is uploaded to the daemon.
        case upload
        /// The certificate is activated at Apple.
        case activation
        /// The first token for the new key pair is decrypted.
        case firstPayment
        /// Nobody has requested the old key pair for the quiet period. Without an old key pair, this step becomes done
        /// together with `firstPayment`, unless an admin must still promote the new key pair.
        case oldKeyQuiet
        /// The roll is finished, if there is one. The last step.
        case done
    }

    package enum StepState: String, Sendable, CaseIterable {
        case done
        /// The party in ``Step/waitingFor`` must act now. Exactly one step is next, unless all are done.
        case next
        /// The step comes after the next one.
        case waiting
    }

    package struct Step: Hashable, Sendable {
        package let name: StepName
        package let state: StepState
        /// Who must act in this step; `none` if the step is done or needs nothing.
        package let waitingFor: RollParty
        /// For a step that is done: when it became done, as far as the daemon knows. For the next step: when it became
        /// the next step. nil for a step that waits.
        package let since: Timestamp?
        /// The time by which a step that is not done should be done: before the certificate of the old key pair
        /// expires. For `oldKeyQuiet`, when the step becomes done if no token for the old key pair arrives. nil if
        /// there is no such time, or if it is unknown yet.
        package let until: Timestamp?
        /// What the party must do: one or two sentences for people at a merchant.
        package let whatToDo: String
    }

    package let merchantIdentifier: MerchantIdentifier
    /// The key pair that the steps are about; nil if it must be generated first.
    package let publicKeyHash: PublicKeyHash?
    /// The key pair whose certificate must be uploaded now: the one that the steps are about if `appleCertificate` is
    /// the next step, or a reserve key pair if all steps are done. nil if there is no such key pair.
    package let awaitedKey: PublicKeyHash?
    /// Every step, in order.
    package let steps: [Step]

    /// The step that must be done now; nil if all steps are done.
    package var next: Step? { steps.first { $0.state == .next } }

    /// Computes the steps. Does not read the store or a clock.
    package init(_ facts: OnboardingFacts) {
        let focus = OnboardingFocus(facts)
        let texts = OnboardingTexts(focus)
        let next = focus.next
        let names = StepName.allCases
        let position = next.flatMap { next in names.firstIndex(of: next.step) } ?? names.endIndex
        merchantIdentifier = facts.merchant.identifier
        publicKeyHash = focus.key?.keyPair.publicKeyHash
        awaitedKey = focus.awaitedKey
        steps = names.enumerated().map { index, name -> Step in
            if index < position {
                return Step(
                    name: name, state: .done, waitingFor: .none, since: focus.doneAt(name), until: nil,
                    whatToDo: texts.done(name))
            }
            if index == position, let next {
                return Step(
                    name: name, state: .next, waitingFor: next.waitingFor, since: next.since,
                    until: focus.until(name), whatToDo: texts.next(next))
            }
            return Step(
                name: name, state: .waiting, waitingFor: focus.laterParty(name), since: nil, until: focus.until(name),
                whatToDo: texts.later(name))
        }
    }
}

/// What ``OnboardingProgress`` is computed from.
package struct OnboardingFacts: Sendable {
    /// A key pair of the merchant.
    package struct Key: Sendable {
        package let keyPair: KeyPair
        package let certificates: [StoredCertificate]
        /// nil if no use is known.
        package let use: KeyUse?

        package init(_ keyPair: KeyPair, certificates: [StoredCertificate] = [], use: KeyUse? = nil) {
            self.keyPair = keyPair
            self.certificates = certificates
            self.use = use
        }
    }

    package let merchant: Merchant
    /// The merchant's key pairs, oldest first. Key pairs of other purposes than payment processing are ignored.
    package let keys: [Key]
    /// The merchant's open rolls and its last ended ones, newest first.
    package let rolls: [Roll]
    package let policy: RollPolicy
    package let time: ClockReading

    package init(merchant: Merchant, keys: [Key], rolls: [Roll], policy: RollPolicy, time: ClockReading) {
        self.merchant = merchant
        self.keys = keys
        self.rolls = rolls
        self.policy = policy
        self.time = time
    }
}

extension OnboardingFacts.Key {
    /// When the last of the key pair's certificates expires; nil without a certificate.
    var expiry: Timestamp? { certificates.map(\.notAfter).max() }

    func hasValidCertificate(at now: Timestamp) -> Bool { certificates.contains { $0.isValid(at: now) } }
}
