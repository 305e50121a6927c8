package import MerchantCore
package import MerchantOperations
package import Vocabulary

/// The overview of a merchant: what to do now, the progress, the keys.
package struct MerchantHomePage: HTMLPage {
    private let merchant: Merchant
    private let steps: [ProgressStep]
    private let focus: PublicKeyHash?
    private let keys: [PageKey]
    private let hasDomains: Bool
    private let outcome: PageOutcome?
    private let liveTag: String?

    package let area = PageArea.home
    package let template = PageTemplate.home

    /// - Parameters:
    ///   - steps: all steps in order.
    ///   - focus: the key pair that the steps are about; nil if it must be generated first.
    ///   - hasDomains: whether the merchant has a registration.
    ///   - outcome: the outcome of the form that led to this page.
    ///   - liveTag: the ETag of the onboarding document that this page shows. The script compares it with newer ones.
    package init(
        merchant: Merchant, steps: [ProgressStep], focus: PublicKeyHash?, keys: [PageKey], hasDomains: Bool = false,
        outcome: PageOutcome? = nil, liveTag: String? = nil
    ) {
        self.merchant = merchant
        self.steps = steps
        self.focus = focus
        self.keys = keys.forPayments
        self.hasDomains = hasDomains
        self.outcome = outcome
        self.liveTag = liveTag
    }

    package init(
        merchant: Merchant, progress: OnboardingProgress, keys: [KeyView], hasDomains: Bool,
        outcome: PageOutcome? = nil, liveTag: String? = nil
    ) {
        self.init(
            merchant: merchant, steps: progress.steps.map { ProgressStep($0) }, focus: progress.publicKeyHash,
            keys: keys.map { PageKey($0) }, hasDomains: hasDomains, outcome: outcome, liveTag: liveTag)
    }

    package var status: Int { outcome?.status ?? 200 }
    package var isProblem: Bool { outcome?.isProblem ?? false }

    package func title(_ text: PageText) -> String { text[.homeTitle] }

    package func content(_ text: PageText) -> Any {
        HomeContent(
            merchant, steps, HomeTask(steps: steps, focus: focus, keys: keys, of: merchant, outcome, text),
            keys: keys, hasDomains: hasDomains, outcome, liveTag: liveTag, text)
    }
}
