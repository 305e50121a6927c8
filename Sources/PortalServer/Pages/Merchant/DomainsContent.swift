import MerchantCore
import Vocabulary

/// The values of the template `domains`.
struct DomainsContent {
    struct Row {
        let name: String
        let stateName: String
        let state: String
        /// When Apple confirmed the registration; nil for other states.
        let confirmed: String?
        let removal: Removal?
    }

    struct Removal {
        let path = PortalPaths.unregistration
        let partner: String
        let domain: String
        /// The domain that the button unregisters, for screen readers.
        let of: String
    }

    /// Apple allows 99 domains for each registration, but a merchant can have several registrations.
    private static let maximumRows = 500

    /// The outcome of a form, except for ``formProblem``.
    let alert: AlertContent?
    /// Why the check or the registration was refused. The page shows this beside the form.
    let formProblem: AlertContent?
    let filePath: String?
    let check: DomainCheckContent?
    let hasPassed: Bool
    let checkPath = PortalPaths.domainCheck
    let registerPath = PortalPaths.domains
    let enteredDomain: String
    /// The element that describes what is wrong with the domain.
    let domainProblemId: String?
    let asksForName: Bool
    let enteredName: String
    let nameProblemId: String?
    let hasDomains: Bool
    let domains: [Row]
    /// Information about the key to which Apple encrypts the payments of the domains.
    let encryption: [String]
    let more: String?

    init(
        _ merchant: Merchant, hasFile: Bool, _ registrations: [PageRegistration], _ input: DomainsPage.Input,
        check: DomainCheckContent?, _ outcome: PageOutcome?, _ text: PageText
    ) {
        let message = outcome?.alert(text, merchant: merchant.identifier.rawValue)
        let isForForm = Self.isForForm(outcome)
        alert = isForForm ? nil : message
        formProblem = isForForm ? message?.nested(level: 3) : nil
        filePath = hasFile ? PortalPaths.domainFile : nil
        self.check = check
        hasPassed = check?.hasPassed ?? false
        enteredDomain = input.domain
        asksForName = registrations.isEmpty
        enteredName = input.name.isEmpty ? merchant.name ?? "" : input.name
        var isDomainWrong = false
        var isNameWrong = false
        if case .problem(let problem, _)? = outcome {
            isDomainWrong = [.domainInvalid, .domainMissing, .appleRefused].contains(problem)
            isNameWrong = problem == .nameMissing
        }
        if isDomainWrong {
            domainProblemId = AlertContent.identifier
        } else {
            domainProblemId = check.map { $0.hasPassed } == false ? DomainCheckContent.identifier : nil
        }
        nameProblemId = isNameWrong ? AlertContent.identifier : nil
        let rows = registrations.flatMap { registration in
            registration.domains.map { Self.row($0, of: registration, text) }
        }
        hasDomains = !rows.isEmpty
        encryption = registrations.compactMap { Self.encryption(of: $0, merchant, text) }
        domains = [Row](rows.prefix(Self.maximumRows))
        more =
            rows.count > Self.maximumRows
            ? text.filled(
                .domainsMore, ["shown": text.number(Self.maximumRows), "count": text.number(rows.count)]) : nil
    }

    /// Whether the outcome is a problem that belongs to the form for checking and registering a domain.
    private static func isForForm(_ outcome: PageOutcome?) -> Bool {
        guard case .problem(let problem, _)? = outcome else { return false }
        return problem != .domainNotRegistered
    }

    /// - Returns: nil if the registration has no `encryptTo` or no domains, or if Apple encrypts to a key of the
    ///   merchant that the daemon can use.
    private static func encryption(
        of registration: PageRegistration, _ merchant: Merchant, _ text: PageText
    ) -> String? {
        guard let encryptTo = registration.encryptTo, !registration.domains.isEmpty else { return nil }
        let domains = ["domains": registration.domains.map(\.name).prefix(3).joined(separator: ", ")]
        if encryptTo != merchant.identifier { return text.filled(.domainsOtherKey, domains) }
        return registration.warnings.isEmpty ? nil : text.filled(.domainsNoCertificate, domains)
    }

    private static func row(_ domain: PageDomain, of registration: PageRegistration, _ text: PageText) -> Row {
        var confirmed: String?
        if domain.state == .registered, let time = registration.learnedAt {
            confirmed = text.filled(.domainsConfirmedAt, ["time": text.day(time).text])
        }
        // While a call to Apple is open, another change of the same registration would usually be refused.
        let removal =
            registration.hasOpenCall
            ? nil
            : Removal(
                partner: registration.partner.rawValue, domain: domain.name,
                of: text.filled(.domainsRemoveDomain, ["domain": domain.name]))
        return Row(
            name: domain.name, stateName: domain.state.rawValue,
            state: text.named(.domainState, domain.state.rawValue), confirmed: confirmed, removal: removal)
    }
}

/// The result of a check.
struct DomainCheckContent {
    static let identifier = "check-result"

    let hasPassed: Bool
    /// The suffix of the CSS class: `error` or `success`.
    let kind: String
    let role: String
    let title: String
    let cause: String
    let action: String
    let url: String
    let server: String?
    /// The result of the check in technical terms; nil if the check passed.
    let detail: String?

    /// - Parameter hasRefusedRegistration: whether the domain was not registered because of the check.
    init(_ report: DomainCheckReport, hasRefusedRegistration: Bool, _ text: PageText) {
        hasPassed = report.hasPassed
        kind = report.hasPassed ? "success" : "error"
        role = report.hasPassed ? "status" : "alert"
        let failedTitle: TextKey = hasRefusedRegistration ? .checkRefusedTitle : .checkFailedTitle
        title = text.filled(
            report.hasPassed ? .checkPassedTitle : failedTitle, ["domain": report.domain.rawValue])
        cause = text.named(.check, "\(report.finding.code).cause")
        action = text.named(.check, "\(report.finding.code).action")
        url = report.url
        server = report.address
        detail = report.hasPassed ? nil : report.finding.detail
    }
}
