package import MerchantCore
package import MerchantOperations

/// The domains of a merchant: the verification file, the check, and the registrations.
package struct DomainsPage: HTMLPage {
    /// What was entered in the form.
    package struct Input: Hashable, Sendable {
        package let domain: String
        /// The name of the shop, which only the first registration needs.
        package let name: String

        package init(domain: String = "", name: String = "") {
            self.domain = domain
            self.name = name
        }
    }

    private let merchant: Merchant
    private let hasFile: Bool
    private let registrations: [PageRegistration]
    private let input: Input
    private let check: DomainCheckReport?
    private let hasRefusedRegistration: Bool
    private let outcome: PageOutcome?

    package let area = PageArea.domains
    package let template = PageTemplate.domains

    /// - Parameters:
    ///   - hasFile: whether the daemon has a domain verification file.
    ///   - check: the result of the check that led to this page.
    ///   - hasRefusedRegistration: whether the domain was not registered because of the check.
    ///   - outcome: the outcome of the form that led to this page.
    package init(
        merchant: Merchant, hasFile: Bool, registrations: [PageRegistration], input: Input = Input(),
        check: DomainCheckReport? = nil, hasRefusedRegistration: Bool = false, outcome: PageOutcome? = nil
    ) {
        self.merchant = merchant
        self.hasFile = hasFile
        self.registrations = registrations
        self.input = input
        self.check = check
        self.hasRefusedRegistration = hasRefusedRegistration
        self.outcome = outcome
    }

    package init(
        merchant: Merchant, hasFile: Bool, registrations: [RegistrationView], input: Input = Input(),
        check: DomainCheckReport? = nil, hasRefusedRegistration: Bool = false, outcome: PageOutcome? = nil
    ) {
        self.init(
            merchant: merchant, hasFile: hasFile, registrations: registrations.map { PageRegistration($0) },
            input: input, check: check, hasRefusedRegistration: hasRefusedRegistration, outcome: outcome)
    }

    package var status: Int { outcome?.status ?? (hasRefusedRegistration ? 422 : 200) }
    package var isProblem: Bool { outcome?.isProblem ?? (check.map { !$0.hasPassed } ?? false) }

    package func title(_ text: PageText) -> String { text[.domainsTitle] }

    package func content(_ text: PageText) -> Any {
        DomainsContent(
            merchant, hasFile: hasFile, registrations, input,
            check: check.map { DomainCheckContent($0, hasRefusedRegistration: hasRefusedRegistration, text) },
            outcome, text)
    }
}
