package import Vocabulary

extension Paths {
    package static func onboarding(of merchant: MerchantIdentifier) -> String {
        "\(Self.merchant(merchant))/onboarding"
    }
}

/// The response of `GET /v1/merchants/{merchantIdentifier}/onboarding`: the progress of a merchant's onboarding or, if
/// the merchant is replacing its key pair, of the roll.
package struct OnboardingDocument: Codable, Hashable, Sendable {
    /// One step of the onboarding.
    package struct Step: Codable, Hashable, Sendable {
        /// `keyPair`, `appleCertificate`, `upload`, `activation`, `firstPayment`, `oldKeyQuiet` or `done`.
        package let name: String
        /// `done`, `next` or `waiting`. Exactly one step is `next`, unless all steps are `done`.
        package let state: String
        /// Who must act in this step: `merchant`, `admin` or `Apple`. `time` if only time must pass. `none` if the step
        /// is done, or needs no action.
        package let waitingFor: String
        /// When the step became `done` or `next`; absent if the step is `waiting`, or if this time is unknown.
        package var since: Timestamp?
        /// The time by which the step should be done. For `oldKeyQuiet`, the time at which the step becomes done if no
        /// token for the old key arrives. Absent if the step is done, or if there is no such time.
        package var until: Timestamp?
        /// What the party in `waitingFor` must do, in one or two sentences for people.
        package let whatToDo: String

        package init(
            _ name: String, state: String, waitingFor: String, since: Timestamp? = nil, until: Timestamp? = nil,
            whatToDo: String
        ) {
            (self.name, self.state, self.waitingFor) = (name, state, waitingFor)
            (self.since, self.until, self.whatToDo) = (since, until, whatToDo)
        }
    }

    package let merchantIdentifier: MerchantIdentifier
    /// Every step, in order.
    package let steps: [Step]

    package init(_ merchant: MerchantIdentifier, steps: [Step]) { (merchantIdentifier, self.steps) = (merchant, steps) }
}
